/** Whatever the box and the terminal are like, a frame is exactly as large as the terminal and holds no control characters. */
import fc from 'fast-check';
import {renderToString} from 'ink';
import stringWidth from 'string-width';
import {expect, test} from 'vitest';
import {Screen} from '../../../source/tui/components/screen.js';
import {visibleRows} from '../../../source/tui/table/rows.js';
import {tableRowsOf} from '../../../source/tui/layout.js';
import {lineText, lineWidth} from '../../../source/tui/widgets/styled-text.js';
import {viewOf} from '../../../source/tui/view/view.js';
import {anyState} from './_any-state.js';

const control = /[\p{Bidi_Control}\p{Control}]/v;

test('every line of the view is exactly as wide as the terminal', () => {
	fc.assert(
		fc.property(anyState, (state) => {
			const {lines, overlay} = viewOf(state);
			expect(lines).toHaveLength(state.size.rows);
			for (const line of lines) {
				expect(lineText(line)).not.toMatch(control);
				expect(lineWidth(line)).toBe(state.size.columns);
			}

			for (const line of overlay?.lines ?? []) {
				expect(lineText(line)).not.toMatch(control);
				expect(lineWidth(line)).toBe(lineWidth(overlay!.lines[0]!));
				expect(overlay!.left + lineWidth(line)).toBeLessThanOrEqual(state.size.columns);
			}
		}),
		{numRuns: 300},
	);
});

test('Ink draws it in exactly as many lines, none wider', () => {
	fc.assert(
		fc.property(anyState, (state) => {
			const lines = renderToString(<Screen state={{...state, settings: {...state.settings, hasColor: false}}} />, {
				columns: state.size.columns,
			}).split('\n');
			expect(lines).toHaveLength(state.size.rows);
			for (const line of lines) {
				expect(stringWidth(line)).toBeLessThanOrEqual(state.size.columns);
			}
		}),
		{numRuns: 60},
	);
});

test('the selection is always a GPU in view', () => {
	fc.assert(
		fc.property(anyState, (state) => {
			const count = state.snapshot!.gpus.length;
			const rows = visibleRows(state);
			const place = rows.findIndex(({index}) => index === state.selectedGpu);
			expect(place === -1).toBe(rows.length === 0);
			expect(state.selectedGpu ?? 0).toBeLessThan(Math.max(1, count));
			expect(state.firstRow).toBeLessThanOrEqual(Math.max(0, place));
			expect(place).toBeLessThan(state.firstRow + tableRowsOf(state));
		}),
	);
});
