/**
Compares both programs group by group: each input with its result in the Go program, from that program's tests, source
and documentation, and its result here. Every difference is listed with a reason. Inputs that only this program accepts
are counted separately, because scripts written for the Go program do not use them.
*/
import {readFileSync} from 'node:fs';
import process from 'node:process';
import {isDeepStrictEqual} from 'node:util';
import {describe, expect, test} from 'vitest';
import {allocationGroups} from './cases/allocation.js';
import {lineGroups} from './cases/command-lines.js';
import {configGroups} from './cases/config.js';
import {documentedGroups} from './cases/documented-lines.js';
import {durationGroups} from './cases/durations-and-times.js';
import {flagGroups} from './cases/flags.js';
import {modelGroups} from './cases/models.js';
import {programGroups} from './cases/program.js';
import {queueAndReportGroups} from './cases/queue-and-report.js';
import {recordGroups} from './cases/records.js';
import {statusGroups} from './cases/status.js';
import {storedGroups} from './cases/stored-by-tests.js';
import {toolGroups} from './cases/tools.js';
import {rows, type Origin, type Row} from './cases/group.js';

const groups = [
	...durationGroups,
	...lineGroups,
	...documentedGroups,
	...flagGroups,
	...configGroups,
	...modelGroups,
	...statusGroups,
	...queueAndReportGroups,
	...recordGroups,
	...allocationGroups,
	...toolGroups,
	...storedGroups,
	...programGroups,
];

type Count = {
	readonly origin: Origin;
	readonly row: Row | undefined;
	readonly tried: number;
	readonly different: number;
	readonly understoodHere: number;
};

const counts: Count[] = [];

describe.each(groups)('$name', ({name, origin, row, cases, differences = {}, understoodHere = []}) => {
	test('canhazgpu differs from the Go canhazgpu only for the listed inputs', async () => {
		const all = await cases();
		const inputs = all.map(([input]) => input);
		expect(new Set(inputs).size, `${name} lists an input twice`).toBe(inputs.length);
		const different = all.filter(([, theirs, ours]) => !isDeepStrictEqual(theirs, ours));
		const said = [...Object.keys(differences), ...understoodHere];
		expect([
			name,
			different.map(([input, theirs, ours]) => ({input, theirs, ours})).filter(({input}) => !said.includes(input)),
		]).toEqual([name, []]);
		expect(different.map(([input]) => input).toSorted()).toEqual(said.toSorted());
		counts.push({
			origin,
			row,
			tried: all.length,
			different: Object.keys(differences).length,
			understoodHere: understoodHere.length,
		});
	});
});

type Sum = Pick<Count, 'tried' | 'different' | 'understoodHere'>;

function sumOf(list: readonly Count[]): Sum {
	const sum = (key: keyof Sum): number => list.reduce((total, count) => total + count[key], 0);
	return {tried: sum('tried'), different: sum('different'), understoodHere: sum('understoodHere')};
}

const ofOrigin = (origin: Origin): Sum => sumOf(counts.filter((count) => count.origin === origin));

const ofRow = (row: Row): Sum => sumOf(counts.filter((count) => count.row === row));

/** The lines of the help topic, by their beginnings, that explain the differences of a row. */
const reported: Partial<Readonly<Record<Row, readonly string[]>>> = {
	'durations, more inputs': ['durations'],
	'FormatUserList, FormatProcessList': ['three or more users on one GPU'],
	'FlexibleTime, more inputs': ['`expiry_time` -1 in a record'],
	'runRun, zero count': ['`--gpus 0`, unexpected arguments, ids that do not exist'],
	'AtomicReserve*, MixedMode': ['a `run` that has stopped sending heartbeats'],
	'allocation order, random pools': ['the order of GPUs that were never used'],
	ReleaseSpecificGPUs: ['`--gpus 0`, unexpected arguments, ids that do not exist'],
	thresholds: ['a GPU that the tool does not show'],
	'Fake provider': ['simulated GPUs'],
	'structure, constants': ['a `run` that has stopped sending heartbeats'],
	'heartbeat loss': ['a record that is deleted while its `run` is still running'],
	'model detection': ['a long name of an AI model'],
	'parse forms of flags': ['`--gpus 0`, unexpected arguments, ids that do not exist'],
};

test('the help topic "go" documents every compared subject in which the two programs differ', () => {
	const topic = readFileSync(new URL('../../../source/help/go.md', import.meta.url), 'utf8');
	const different = [...new Set(counts.filter((count) => count.different > 0).map(({row}) => row))];
	expect(different.filter((row) => row !== undefined).toSorted()).toEqual(Object.keys(reported).toSorted());
	for (const line of Object.values(reported).flat()) {
		expect(topic).toContain(`\n| ${line} | `);
	}
});

test.each(Object.entries(rows) as ReadonlyArray<readonly [Row, number]>)(
	'the comparison with the Go canhazgpu in the subject "%s" covers at least %d inputs',
	(row, tried) => {
		expect(ofRow(row).tried).toBeGreaterThanOrEqual(tried);
	},
);

test('the comparison with the Go canhazgpu covers at least 442 inputs and finds at most 20 differences', () => {
	const table = sumOf(counts.filter(({row}) => row !== undefined));
	const words = `of the rows of the table ${table.tried} tried, ${table.different} different`;
	process.stdout.write(`The Go program's cases: ${words}, ${table.understoodHere} refused there and understood here\n`);
	expect(Object.values(rows).reduce((total, tried) => total + tried, 0)).toBe(442);
	expect(table.tried).toBeGreaterThanOrEqual(442);
	expect(table.different).toBeLessThanOrEqual(20);
	expect({
		table,
		tests: ofOrigin('its tests'),
		source: ofOrigin('its source'),
		further: ofOrigin('further inputs'),
	}).toEqual({
		table: {tried: 454, different: 20, understoodHere: 17},
		tests: {tried: 229, different: 8, understoodHere: 4},
		source: {tried: 416, different: 14, understoodHere: 1},
		further: {tried: 233, different: 12, understoodHere: 13},
	});
});
