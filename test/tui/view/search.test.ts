/** Search moves the selection and hides nothing. */
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {modeOf} from '../../../source/tui/state/modes.js';
import {selectedEntry} from '../../../source/tui/state/queue/rows.js';
import {processTable, selectedProcess} from '../../../source/tui/state/processes/rows.js';
import {selectedGpu, visibleRows} from '../../../source/tui/state/gpus/rows.js';
import type {State} from '../../../source/tui/state/state.js';
import {after, frameOf, stateOf, type Step} from '../_harness.js';
import {createBox, createScene, lease, waiter} from '../_world.js';
import {createCrowd} from '../processes/_crowd.js';

const size = {columns: 120, rows: 32};

const searching = (text: string): readonly Step[] => ['open-search', {kind: 'typed', text}, 'keep-search'];

test('the keys n and N move the selection to the next and previous match and wrap around', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.constantFrom('ann', 'bob'), {minLength: 1, maxLength: 12}),
			fc.array(fc.constantFrom<'search-next' | 'search-previous'>('search-next', 'search-previous'), {maxLength: 10}),
			async (owners, steps) => {
				const leases = Object.fromEntries(owners.map((owner, index) => [index, lease(owner)]));
				let state = after(await stateOf(await createBox(owners.length, {leases}), size), ...searching('ANN'));
				const matches = owners.flatMap((owner, index) => (owner === 'ann' ? [index] : []));
				expect(visibleRows(state)).toHaveLength(owners.length);
				if (matches.length === 0) {
					expect([selectedGpu(state), state.flash?.text]).toEqual([0, 'Nothing here contains ANN']);
					return;
				}

				let position = matches.findIndex((index) => index > 0);
				position = position === -1 ? 0 : position;
				expect(selectedGpu(state)).toBe(matches[position]);
				for (const step of steps) {
					state = after(state, step);
					position = (position + (step === 'search-next' ? 1 : -1) + matches.length) % matches.length;
					expect(selectedGpu(state)).toBe(matches[position]);
					expect(state.flash?.text).toBe(`Search ANN: ${position + 1} of ${matches.length}`);
				}
			},
		),
		{numRuns: 20},
	);
});

test('a search finds rows of the focused table, including processes and queue entries', async () => {
	const processes = after(await stateOf(await createCrowd(), size), 'focus-processes', ...searching('not holder'));
	expect([selectedProcess(processes)?.process.pid, processTable.shown(processes).length]).toEqual([90_100, 8]);
	const box = await createBox(1, {waiting: ['ann', 'ben', 'cid'].map((name) => waiter(name))});
	const queue = after(await stateOf(box, size), 'focus-queue', ...searching('cid'));
	expect(selectedEntry(queue)?.id).toBe('entry-cid');
	expect(after(queue, 'search-next').flash?.text).toBe('Search cid: 1 of 1');
});

test('a search shows the number of matches while it is typed', async () => {
	const start: State = await stateOf(await createScene(), size);
	const asking = after(start, 'search-next', {kind: 'typed', text: 'carol'});
	expect(modeOf(asking)).toBe('search');
	expect(frameOf(asking)).toMatch(/ Search carol.* 2 rows\n Enter Search {2}Esc Cancel/v);
	const left = after(asking, 'drop-search');
	expect([modeOf(left), left.search.text, selectedGpu(left)]).toEqual(['gpus', '', 0]);
	const found = after(asking, 'keep-search', 'open-search');
	// The last search is shown as a suggestion, which typing replaces.
	expect(frameOf(found)).toMatch(/ Search carol/v);
	expect(after(found, {kind: 'typed', text: 'x'}).search.prompt?.value).toBe('x');
	expect(after(found, 'clear-field', 'keep-search').search.text).toBe('');
});
