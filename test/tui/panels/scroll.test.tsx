import {render} from 'ink-testing-library';
import {expect, test, vi} from 'vitest';
import {firstLine, useScroll} from '../../../source/tui/panels/shared/panel-frame.js';
import {createStateStore} from '../../../source/tui/state/store.js';
import {StoreContext} from '../../../source/tui/state/use-monitor.js';
import {Label} from '../../../source/tui/widgets/label.js';
import {patienceMs} from '../../_helpers/eventually.js';
import {stateOf} from '../_harness.js';
import {createBox} from '../_world.js';

const words = ['one', 'two', 'three', 'four'];

function Words({rows}: {readonly rows: number}) {
	const {first, to, range} = useScroll('events', words.length, rows);
	return <Label>{[...words.slice(first, to), range].join(' ')}</Label>;
}

async function drawnAt(scroll: number, rows: number) {
	const initial = await stateOf(await createBox(1), {columns: 80, rows: 24});
	const panels = {...initial.panels, scroll: {...initial.panels.scroll, events: scroll}};
	const store = createStateStore({...initial, panels});
	const {lastFrame, unmount} = render(
		<StoreContext value={store}>
			<Words rows={rows} />
		</StoreContext>,
	);
	return {store, lastFrame, unmount};
}

test('useScroll returns the lines in view, from the scroll position on', async () => {
	const {lastFrame, unmount} = await drawnAt(1, 2);
	expect(lastFrame()).toBe('two three 2-3 of 4');
	unmount();
});

test('useScroll shows the last lines of a panel that is scrolled too far, and corrects its position', async () => {
	const {store, lastFrame, unmount} = await drawnAt(9, 3);
	expect(lastFrame()).toBe('two three four 2-4 of 4');
	await vi.waitFor(
		() => {
			expect(store.getState().panels.scroll.events).toBe(1);
		},
		{timeout: patienceMs},
	);
	unmount();
});

test('firstLine is 0 if all lines fit, and at most the start of the last page', () => {
	expect(firstLine(3, 4, 9)).toBe(0);
	expect(firstLine(3, 0, 9)).toBe(0);
	expect(firstLine(1, 4, 2)).toBe(1);
});
