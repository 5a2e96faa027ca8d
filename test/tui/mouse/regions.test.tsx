/** What the mouse points at is what is drawn there. */
import {stripVTControlCharacters} from 'node:util';
import fc from 'fast-check';
import {renderToString} from 'ink';
import {expect, test} from 'vitest';
import {Screen} from '../../../source/tui/components/screen.js';
import {isTooSmall} from '../../../source/tui/layout.js';
import {panelOf} from '../../../source/tui/panels/contents.js';
import {loadsLines} from '../../../source/tui/panels/loads.js';
import {regionsOf} from '../../../source/tui/regions.js';
import {lineText} from '../../../source/tui/widgets/styled-text.js';
import {intentOf} from '../../../source/tui/keys/bindings.js';
import {modeOf} from '../../../source/tui/state/keys.js';
import type {MouseEvent} from '../../../source/tui/mouse/input.js';
import {pointingAt} from '../../../source/tui/mouse/pointing.js';
import {reduce} from '../../../source/tui/state/reducer.js';
import type {State} from '../../../source/tui/state/state.js';
import {visibleRows} from '../../../source/tui/state/table/rows.js';
import {anyState} from '../state/_any-state.js';

/** Letters that are one cell wide tell a place. */
const isPlain = (text: string): boolean => /^[\u{20}-\u{7E}]*$/v.test(text);

test('each panel stands where its region is, title and lines', () => {
	fc.assert(
		fc.property(anyState, fc.constantFrom('default', 'dense', 'processes', 'queue'), (before, preset) => {
			const state = {...before, dialog: undefined, view: {...before.view, preset}};
			fc.pre(!isTooSmall(state) && !state.settings.isLinear);
			const frame = stripVTControlCharacters(
				renderToString(<Screen state={state} />, {columns: state.size.columns}),
			).split('\n');
			let bottom = 0;
			for (const {panel, left, top, rows, width, side} of regionsOf(state)) {
				const room = {rows, width: width - 3 * side};
				const {lines} = panel === 'loads' ? {lines: loadsLines(state, room)} : panelOf(panel, state, room);
				bottom = Math.max(bottom, top + rows);
				for (const [index, line] of lines.slice(0, rows).entries()) {
					const text = lineText(line).slice(0, room.width).trimEnd();
					const drawn = frame[top + 1 + index]!;
					if (
						isPlain(text) &&
						/^[\u{20}-\u{7E}\u{2500}-\u{257F}]*$/v.test(drawn.slice(0, left + side)) &&
						lineText(line).length <= room.width
					) {
						expect(drawn.slice(left + side, left + side + text.length)).toBe(text);
					}
				}
			}

			expect(bottom).toBeLessThan(state.size.rows - 2);
		}),
		{numRuns: 25},
	);
});

test('a click or a turn of the wheel anywhere, in any state, selects what is there and breaks nothing', () => {
	const event = fc.record<MouseEvent>({
		kind: fc.constantFrom('click', 'wheel-up', 'wheel-down'),
		column: fc.nat(230),
		row: fc.nat(62),
	});
	fc.assert(
		fc.property(anyState, event, (state, at) => {
			let next: State = state;
			for (const pointing of pointingAt(state, at)) {
				if ('action' in pointing) {
					next = reduce(next, pointing.action);
				} else {
					expect(intentOf(modeOf(state), pointing.key) ?? pointing.key).toBeTruthy();
				}
			}

			const rows = visibleRows(next);
			expect(next.selectedGpu === undefined).toBe(rows.length === 0);
			expect(next.firstRow).toBeGreaterThanOrEqual(0);
			expect(renderToString(<Screen state={next} />, {columns: next.size.columns}).split('\n')).toHaveLength(
				next.size.rows,
			);
		}),
		{numRuns: 40},
	);
});
