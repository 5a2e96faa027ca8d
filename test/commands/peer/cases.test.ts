/**
The Go program's behaviour, group by group: what each input gives there, by its tests, its source and its documentation, and what it gives here.
A case that differs stands in its group with the reason, and no other case may differ. What is refused there and understood here is counted
apart: a script of the Go program's can only meet it by a mistake that it was told of.
*/
import {isDeepStrictEqual} from 'node:util';
import {existsSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {allocationGroups} from './cases/allocation.js';
import {lineGroups} from './cases/command-lines.js';
import {configGroups} from './cases/config.js';
import {documentedGroups} from './cases/documented-lines.js';
import {durationGroups} from './cases/durations-and-times.js';
import {flagGroups} from './cases/flags.js';
import {modelGroups} from './cases/models.js';
import {queueAndReportGroups} from './cases/queue-and-report.js';
import {recordGroups} from './cases/records.js';
import {statusGroups} from './cases/status.js';
import {toolGroups} from './cases/tools.js';
import type {Origin} from './cases/group.js';

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
];

/** Groups of the Go program's tests that need processes, a real store or a tool: how many cases, how many differ and why, and where ours are. */
const replayedElsewhere: ReadonlyArray<
	readonly [group: string, tried: number, different: readonly string[], where: string]
> = [
	['Queue', 7, [], 'test/commands/queue/queue.test.ts'],
	['Usage history', 7, ['old and new records: both count'], 'test/commands/pool/old-history.test.ts'],
	['Provider back-compat', 5, ['nvidia is not written into the key'], 'test/store/contract/records.ts'],
	['Fake provider', 6, ['model name', 'load'], 'test/gpu/simulated.test.ts'],
	['status table', 2, [], 'test/format/validation.test.ts'],
	['heartbeat loss', 2, [], 'test/core/operations/leases/job-lease.test.ts'],
];

type Count = {
	readonly origin: Origin;
	readonly tried: number;
	readonly different: number;
	readonly understoodHere: number;
};

const counts: Count[] = [];

describe.each(groups)('$name', ({name, origin, cases, differences = {}, understoodHere = []}) => {
	test('differs where it is said, and nowhere else', async () => {
		const all = await cases();
		const inputs = all.map(([input]) => input);
		expect(new Set(inputs).size, `an input of ${name} stands there twice`).toBe(inputs.length);
		const different = all.filter(([, theirs, ours]) => !isDeepStrictEqual(theirs, ours));
		const said = [...Object.keys(differences), ...understoodHere];
		expect([
			name,
			different.map(([input, theirs, ours]) => ({input, theirs, ours})).filter(({input}) => !said.includes(input)),
		]).toEqual([name, []]);
		expect(different.map(([input]) => input).toSorted()).toEqual(said.toSorted());
		counts.push({
			origin,
			tried: all.length,
			different: Object.keys(differences).length,
			understoodHere: understoodHere.length,
		});
	});
});

test.each(replayedElsewhere)('%s: replayed by a file that is there', (_, tried, different, where) => {
	expect(existsSync(new URL(`../../../${where}`, import.meta.url))).toBe(true);
	counts.push({origin: 'its tests', tried, different: different.length, understoodHere: 0});
});

function sumOf(origin: Origin): Omit<Count, 'origin'> {
	const list = counts.filter((count) => count.origin === origin);
	const sum = (key: keyof Omit<Count, 'origin'>): number => list.reduce((total, count) => total + count[key], 0);
	return {tried: sum('tried'), different: sum('different'), understoodHere: sum('understoodHere')};
}

test('the closing count', () => {
	expect({
		tests: sumOf('its tests'),
		source: sumOf('its source'),
		further: sumOf('further inputs'),
	}).toEqual({
		tests: {tried: 193, different: 11, understoodHere: 2},
		source: {tried: 415, different: 13, understoodHere: 1},
		further: {tried: 116, different: 12, understoodHere: 7},
	});
});
