import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {idleSecondsOf, nextIdle} from '../../../../source/core/rules/usage/idle.js';
import {statusRows} from '../../../../source/core/rules/pool/status.js';
import type {GpuReading, GpuRecord, IdleSpan, Lease} from '../../../../source/core/model/types.js';
import {idleReading, snapshotWith, observationOf} from '../../../_helpers/world.js';

const lease: Lease = {user: 'alice', type: 'manual', startTime: 0, leaseId: 'lease-1'};
const heldBy = (holder: Lease, index = 0): GpuRecord => ({kind: 'leased', index, raw: '{}', lease: holder});

/** Readings by the name of what they show. */
const readings: Readonly<Record<string, GpuReading | undefined>> = {
	idle: idleReading(0),
	busy: {...idleReading(0), memoryUsedMiB: 9000, processes: [{pid: 1}]},
	'a process with little memory': {...idleReading(0), processes: [{pid: 1, memoryUsedMiB: 300}]},
	'memory without a process': {...idleReading(0), memoryUsedMiB: 9000},
	'no processes to be had': {...idleReading(0), processes: undefined},
	'no memory to be had': {...idleReading(0), memoryUsedMiB: undefined},
	broken: {...idleReading(0), failure: 'lost', uuid: undefined, processes: undefined, memoryUsedMiB: undefined},
	'not seen': undefined,
	'a desktop': {...idleReading(0), processes: [{pid: 1, kind: 'graphics', memoryUsedMiB: 40}]},
	'unified memory, nothing on it': {...idleReading(0), memoryUsedMiB: undefined, unknown: {memoryUsedMiB: '[N/A]'}},
	'unified memory, a desktop': {
		...idleReading(0),
		memoryUsedMiB: undefined,
		unknown: {memoryUsedMiB: '[N/A]'},
		processes: [{pid: 1, kind: 'graphics', memoryUsedMiB: 40}],
	},
};

type Reading = readonly [at: number, what: keyof typeof readings, holder?: Lease];

/** Returns the idle spans after these scans. */
function after(...scans: readonly Reading[]): readonly IdleSpan[] {
	let spans: readonly IdleSpan[] = [];
	for (const [now, what, holder = lease] of scans) {
		const reading = readings[what];
		const gpus = reading === undefined ? [] : [reading];
		spans = nextIdle({gpus}, {before: spans, records: [heldBy(holder)], now, memoryThresholdMiB: 1024});
	}

	return spans;
}

const secondsAfter = (...scans: readonly Reading[]): number | undefined => {
	const [now, , holder = lease] = scans.at(-1)!;
	const reading = readings[scans.at(-1)![1]];
	return idleSecondsOf({idle: after(...scans)}, {lease: holder, index: 0}, {reading, now, memoryThresholdMiB: 1024});
};

test.each<[string, readonly Reading[], number | undefined]>([
	['starts at zero with the first scan', [[100, 'idle']], 0],
	[
		'adds the time between idle scans',
		[
			[100, 'idle'],
			[102, 'idle'],
			[110, 'idle'],
		],
		10,
	],
	[
		'ends when the GPU is busy',
		[
			[100, 'idle'],
			[110, 'busy'],
		],
		undefined,
	],
	[
		'starts again after the GPU was busy',
		[
			[100, 'idle'],
			[110, 'busy'],
			[120, 'idle'],
			[125, 'idle'],
		],
		5,
	],
	[
		'ends with a process, whatever its memory',
		[
			[100, 'idle'],
			[110, 'a process with little memory'],
		],
		undefined,
	],
	[
		'ends with memory in use, even without a known process',
		[
			[100, 'idle'],
			[110, 'memory without a process'],
		],
		undefined,
	],
	[
		'continues with only a desktop process',
		[
			[100, 'idle'],
			[110, 'a desktop'],
		],
		10,
	],
	[
		'continues on a GPU without memory of its own and without a process',
		[
			[1, 'idle'],
			[9, 'unified memory, nothing on it'],
		],
		8,
	],
	[
		'continues on a GPU without memory of its own and with only a desktop process',
		[
			[1, 'idle'],
			[9, 'unified memory, a desktop'],
		],
		8,
	],
	[
		'ends when the processes are unknown',
		[
			[100, 'idle'],
			[110, 'no processes to be had'],
		],
		undefined,
	],
	[
		'does not start with an unknown amount of memory',
		[
			[100, 'no memory to be had'],
			[110, 'idle'],
		],
		0,
	],
	[
		'excludes the time of a failed scan, and keeps the time before it',
		[
			[100, 'idle'],
			[110, 'idle'],
			[120, 'broken'],
			[130, 'idle'],
			[133, 'idle'],
		],
		13,
	],
	[
		'keeps the time before a scan that omits the GPU',
		[
			[100, 'idle'],
			[110, 'idle'],
			[120, 'not seen'],
			[130, 'idle'],
		],
		10,
	],
	[
		'excludes a long period without scans',
		[
			[100, 'idle'],
			[110, 'idle'],
			[5000, 'idle'],
			[5001, 'idle'],
		],
		11,
	],
	[
		'is never negative when the clock is set back',
		[
			[100, 'idle'],
			[90, 'idle'],
			[95, 'idle'],
		],
		5,
	],
	[
		'starts at zero for the next lease',
		[
			[100, 'idle'],
			[110, 'idle'],
			[120, 'idle', {...lease, leaseId: 'lease-2'}],
		],
		0,
	],
	[
		'starts at zero for a later lease without an id',
		[
			[100, 'idle', {...lease, leaseId: undefined}],
			[120, 'idle', {...lease, leaseId: undefined, startTime: 119}],
		],
		0,
	],
])('the idle time of a lease %s', (_, scans, seconds) => {
	expect(secondsAfter(...scans)).toBe(seconds);
});

test('the idle time of a lease starts again if the GPU was replaced', () => {
	const spans = after([100, 'idle'], [110, 'idle']);
	const other = {...idleReading(0), uuid: 'GPU-other'};
	const next = nextIdle({gpus: [other]}, {before: spans, records: [heldBy(lease)], now: 112, memoryThresholdMiB: 1024});
	expect(next).toMatchObject([{uuid: 'GPU-other', seconds: 0}]);
});

test('nextIdle drops the idle times of ended leases', () => {
	const spans = after([100, 'idle'], [110, 'idle']);
	const free: GpuRecord = {kind: 'free', index: 0, raw: undefined};
	expect(nextIdle({gpus: []}, {before: spans, records: [free], now: 112, memoryThresholdMiB: 1024})).toEqual([]);
});

describe('a share', () => {
	const [own, other] = ['alice', 'bob'].map((user): Lease => ({...lease, user, leaseId: user, memoryMiB: 30_000}));
	const record: GpuRecord = {kind: 'shared', index: 0, raw: '{}', shares: [own!, other!], capacityMiB: 80_000};
	const sharesWith = (...processes: ReadonlyArray<NonNullable<GpuReading['processes']>[number]>) => {
		const gpus = [{...idleReading(0), memoryUsedMiB: 20_000, utilizationPercent: 90, processes}];
		const known = {records: [record], memoryThresholdMiB: 1024};
		const before = nextIdle({gpus}, {...known, before: [], now: 100});
		const idle = nextIdle({gpus}, {...known, before, now: 160});
		const snapshot = snapshotWith({now: 160, pool: undefined, gpus: [record]});
		const [row] = statusRows(snapshot, observationOf(gpus, {idle}), 1024);
		return row!.shares!.map(({idleSeconds, memoryUsedMiB}) => [idleSeconds, memoryUsedMiB]);
	};

	test('is idle with no memory in use if all processes belong to others', () => {
		expect(sharesWith({pid: 1, user: 'bob', memoryUsedMiB: 20_000})).toEqual([
			[60, 0],
			[undefined, 20_000],
		]);
	});

	test.each([{user: 'root', containerId: 'abcdef012345'}, {}])(
		'has unknown idle time and memory if a process may belong to it: %o',
		(process) => {
			expect(sharesWith({pid: 1, ...process, memoryUsedMiB: 20_000})).toEqual([
				[undefined, undefined],
				[undefined, undefined],
			]);
			expect(
				sharesWith({pid: 1, ...process, memoryUsedMiB: 9000}, {pid: 2, user: 'bob', memoryUsedMiB: 11_000}),
			).toEqual([
				[undefined, undefined],
				[undefined, 11_000],
			]);
		},
	);
});

test('status shows idle times only for leases', () => {
	const snapshot = snapshotWith({
		now: 110,
		pool: undefined,
		gpus: [heldBy(lease), {kind: 'free', index: 1, raw: undefined} as const],
	});
	const observation = observationOf([idleReading(0), idleReading(1)], {idle: after([50, 'idle'], [100, 'idle'])});
	expect(statusRows(snapshot, observation, 1024).map(({idleSeconds}) => idleSeconds)).toEqual([60, undefined]);
	const [busy] = statusRows(snapshot, {...observation, gpus: [readings['busy']!]}, 1024);
	expect(busy?.idleSeconds).toBeUndefined();
});

describe('the idle time of a lease, for any readings', () => {
	const reading = fc.tuple(fc.integer({min: 1, max: 400}), fc.constantFrom(...Object.keys(readings)));

	test('counts only observed idleness since the last use', () => {
		fc.assert(
			fc.property(fc.array(reading, {minLength: 1}), (steps) => {
				let now = 0;
				const scans = steps.map(([step, what]): Reading => {
					now += step;
					return [now, what];
				});
				const seconds = secondsAfter(...scans);
				const isWork = (what: string) =>
					['busy', 'a process with little memory', 'memory without a process'].includes(what);
				const isIdle = (what: string) =>
					['idle', 'a desktop', 'unified memory, nothing on it', 'unified memory, a desktop'].includes(what);
				const since = scans.slice(scans.findLastIndex(([, what]) => isWork(what)) + 1);
				let naive = 0;
				for (const [index, [at, what]] of since.entries()) {
					const [before, whatBefore] = since[index - 1] ?? [at, 'busy'];
					naive += isIdle(what) && isIdle(whatBefore) && at - before <= 300 ? at - before : 0;
				}

				expect(seconds).toBe(isIdle(scans.at(-1)![1]) ? naive : undefined);
			}),
		);
	});
});
