import {expect, test} from 'vitest';
import {PanelFrame} from '../../../../source/tui/panels/shared/panel-frame.js';
import {Label} from '../../../../source/tui/widgets/label.js';
import {drawn, lines, painted} from '../../_drawn.js';
import {after, stateOf} from '../../_harness.js';
import {createBox} from '../../_world.js';

const state = await stateOf(await createBox(1), {columns: 100, rows: 30});

test('PanelFrame has the number of its key, its title and the visible rows in its border', () => {
	const panel = (
		<PanelFrame name="report" about="by user" beside={<Label>beside</Label>} end="1-2 of 9" width={46} rows={1}>
			<Label>content</Label>
		</PanelFrame>
	);
	expect(drawn(panel, {state})).toBe(
		lines(
			'╭─ 4:Report by user  beside ────── 1-2 of 9 ─╮',
			'│content                                     │',
			'╰────────────────────────────────────────────╯',
		),
	);
});

test('PanelFrame is highlighted if it has the focus', () => {
	const panel = <PanelFrame name="queue" width={20} rows={1} />;
	const focused = painted(panel, 'dark', {state: after(state, 'focus-queue')});
	const title = painted(<Label tone="marked">3:Queue</Label>, 'dark');
	expect(focused).toContain(title);
	expect(painted(panel, 'dark', {state})).not.toContain(title);
});
