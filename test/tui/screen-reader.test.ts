/** The screen for a screen reader, which includes everything that is shown otherwise. */
import {expect, test} from 'vitest';
import type {Write} from '../../source/core/model/plan.js';
import type {Size, State} from '../../source/tui/state/state.js';
import {commandPrompt, outputOf} from '../../source/tui/state/command-line/state.js';
import {splitReading} from '../_helpers/mig-box.js';
import {after, frameOf, stateOf, type Step} from './_harness.js';
import {createBox, createScene, gpuReading, lease} from './_world.js';

const size: Size = {columns: 200, rows: 24};

/** Returns what is read aloud: the lines of the screen with single blanks. */
const linearLines = (state: State): readonly string[] =>
	frameOf(state)
		.split('\n')
		.map((line) => line.trim().replaceAll(/\s+/gv, ' '))
		.filter((line) => line !== '');

const said = async (...steps: readonly Step[]): Promise<readonly string[]> =>
	linearLines(await stateOf(await createScene(), size, {isLinear: true}, steps));

const typing = (text: string): readonly Step[] => [...text].map((character) => ({kind: 'typed', text: character}));

test('a screen reader gets a typed command and its error', async () => {
	const state = await stateOf(await createScene(), size, {isLinear: true}, [
		{kind: 'opened', dialog: commandPrompt([])},
		...typing('stat'),
	]);
	expect(linearLines(state)[0]).toMatch(/^:stat/v);
	const refused = after(state, {
		kind: 'refused',
		complaint: {message: 'Unknown command "stat"'},
		dialog: state.dialog,
	});
	expect(linearLines(refused).slice(1)).toEqual([
		'ERR Unknown command "stat"',
		expect.stringMatching(/^Keys: Enter Run/v),
	]);
});

test('a screen reader gets the filter of the table of all hosts', async () => {
	expect((await said('focus-hosts', 'open-filter', ...typing('a100'))).join('\n')).toContain('Filter a100');
});

test('a screen reader gets the detail panel without values that change every second', async () => {
	const lines = await said('focus-detail');
	const from = lines.findIndex((line) => line.startsWith('2:Detail GPU 0'));
	expect(lines.slice(from + 1, from + 4)).toEqual([
		'alice RUN held 1h12m ends when 81234 exits',
		'note eval 70B',
		expect.stringMatching(/^PID USER/v),
	]);
});

test('a screen reader gets the shares and the MIG instances of a GPU', async () => {
	const box = await createBox(2, {readings: [gpuReading(0), splitReading(1, ['3g.40gb'])]});
	const shares: Write = {
		kind: 'shares',
		index: 0,
		capacityMiB: 81_559,
		shares: [lease('bob', {memoryMiB: 8192}), lease('carol', {memoryMiB: 8192, leaseId: 'c'})],
	};
	await box.write(shares);
	const lines = linearLines(await stateOf(box, size, {isLinear: true}));
	expect(lines[1]).toMatch(/^0 free, 1 free but split by MIG, 1 reserved/v);
	expect(lines.find((line) => line.includes('GPU 0'))).toMatch(/16\/79\.6G bob 8G, carol 8G$/v);
	expect(lines.find((line) => line.includes('GPU 1'))).toMatch(/MIG 3g\.40gb$/v);
});

test('a screen reader gets the help group by group, page by page', async () => {
	const pages = new Set<string>();
	for (let page = 0; page < 6; page++) {
		const turns = Array.from({length: page}, () => 'help-next' as const);
		pages.add((await said('open-help', ...turns)).join('\n'));
	}

	const all = [...pages].join('\n');
	expect(all).toMatch(/^r reserve GPUs for a time$/mv);
	expect(all).toMatch(/^Enter show GPU details$/mv);
	expect(all).toMatch(/^Mine IN_USE You hold it$/mv);
});

test('a screen reader gets the table of a command without its border lines', async () => {
	const dialog = outputOf('$ status', [' GPU │ STATUS', '─────┼───────', ' 0   │ FREE']);
	expect((await said({kind: 'opened', dialog})).slice(0, 3)).toEqual(['$ status:', 'GPU, STATUS', '0, FREE']);
});
