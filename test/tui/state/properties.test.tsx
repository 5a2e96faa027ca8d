import fc from 'fast-check';
import stringWidth from 'string-width';
import {expect, test} from 'vitest';
import {Screen} from '../../../source/tui/screens/screen.js';
import {selectedGpu, visibleRows} from '../../../source/tui/state/gpus/rows.js';
import {hostLines} from '../../../source/tui/state/hosts/rows.js';
import {pageRowsOf, tableRowsOf} from '../../../source/tui/layout.js';
import {after, drawnBy} from '../_harness.js';
import {anyState} from './_any-state.js';

const control = /[\p{Bidi_Control}\p{Control}]/v;

test('any frame has exactly as many lines as the terminal, and no line is too wide', () => {
	fc.assert(
		fc.property(anyState, (state) => {
			// Ink writes no styles without a terminal, so each control character would come from the data.
			const lines = drawnBy(state, <Screen />).split('\n');
			expect(lines).toHaveLength(state.size.rows);
			for (const line of lines) {
				expect(line).not.toMatch(control);
				expect(stringWidth(line)).toBeLessThanOrEqual(state.size.columns);
			}
		}),
		{numRuns: 30},
	);
});

test('the selection in the GPU table is always a visible GPU', () => {
	fc.assert(
		fc.property(anyState, (state) => {
			const count = state.snapshot!.gpus.length;
			const rows = visibleRows(state);
			const position = rows.findIndex(({index}) => index === selectedGpu(state));
			expect(position === -1).toBe(rows.length === 0);
			expect(selectedGpu(state) ?? 0).toBeLessThan(Math.max(1, count));
			expect(state.gpus.firstRow).toBeLessThanOrEqual(Math.max(0, position));
			expect(position).toBeLessThan(state.gpus.firstRow + tableRowsOf(state));
		}),
	);
});

test('the selected row in the table of all hosts is always visible', () => {
	fc.assert(
		fc.property(anyState, (state) => {
			const shown = after(state, 'focus-hosts');
			const lines = hostLines(shown);
			const index = lines.findIndex(({key}) => shown.hosts.selected.keys.includes(key));
			expect(index === -1).toBe(lines.length === 0);
			expect(new Set(lines.map(({key}) => key)).size).toBe(lines.length);
			expect(shown.hosts.firstRow).toBeLessThanOrEqual(Math.max(0, index));
			expect(index).toBeLessThan(shown.hosts.firstRow + Math.max(1, pageRowsOf(shown, 'hosts')));
		}),
	);
});
