/** Durations, stored times, and their formats. */
import {parseDuration} from '../../../../source/core/rules/leases/durations.js';
import {statusRows} from '../../../../source/core/rules/pool/status.js';
import type {GpuRecord, Lease, Snapshot} from '../../../../source/core/model/types.js';
import {longDuration} from '../../../../source/format/text/durations.js';
import {detailText, processList, userText} from '../../../../source/format/status-labels.js';
import {decodeGpu} from '../../../../source/store/records/lease.js';
import {idleReading, observationOf, snapshotWith} from '../../../_helpers/world.js';
import {lineCase, orRefused, refused, type Case, type Group} from './group.js';

const durationCases = (inputs: Readonly<Record<string, number | typeof refused>>): readonly Case[] =>
	Object.entries(inputs).map(([text, theirs]) => [text, theirs, orRefused(() => parseDuration(text, 'it'))]);

const hour = 3600;
const noTime = 'it is no time to hold a GPU; there it ends at once, or before it begins';

const run = (lease: Partial<Lease>): GpuRecord => ({
	kind: 'leased',
	index: 0,
	raw: '{}',
	lease: {user: 'alice', type: 'run', startTime: 0, ...lease},
});

function detailsOf(lease: Partial<Lease>): string {
	const snapshot: Snapshot = snapshotWith({
		now: 100_000,
		pool: {gpuCount: 1, provider: 'fake'},
		gpus: [run(lease)],
	});
	return detailText(statusRows(snapshot, observationOf([idleReading(0)]), 1024)[0]!);
}

function usersOf(...users: ReadonlyArray<string | undefined>): string {
	const processes = users.map((user, index) => ({pid: index + 1, user}));
	const reading = {...idleReading(0), memoryUsedMiB: 5000, processes};
	const free: GpuRecord = {kind: 'free', index: 0, raw: undefined};
	const snapshot = snapshotWith({gpus: [free]});
	return userText(statusRows(snapshot, observationOf([reading]), 1024)[0]!, ' and ');
}

/** The time fields of a GPU record. */
const fields = ['start_time', 'last_heartbeat', 'expiry_time', 'last_released'] as const;

type Time = number | 'unset' | typeof refused;

/** Returns a GPU record with one time replaced. A job has a heartbeat, like each that the Go program writes. */
const recordWith = (field: (typeof fields)[number], json: string): string => {
	const lease = {
		user: '"alice"',
		type: field === 'expiry_time' ? '"manual"' : '"run"',
		start_time: '1600000000',
		last_heartbeat: '1600000000',
	};
	const values = {...(field !== 'last_released' && lease), [field]: json};
	return `{${Object.entries(values)
		.map(([name, value]) => `"${name}": ${value}`)
		.join(', ')}}`;
};

/** Returns the time that is read from a record. A lease without a start holds its GPU in both programs. */
function readTime(field: (typeof fields)[number], json: string): Time {
	const record = decodeGpu(0, recordWith(field, json));
	const isUnset = ['null', '"0001-01-01T00:00:00Z"', '""'].includes(json);
	switch (record.kind) {
		case 'free': {
			return record.lastReleased === undefined ? 'unset' : Math.floor(record.lastReleased);
		}

		case 'leased': {
			const {startTime, lastHeartbeat, expiryTime} = record.lease;
			const time =
				field === 'start_time'
					? isUnset
						? undefined
						: startTime
					: field === 'last_heartbeat'
						? lastHeartbeat
						: expiryTime;
			return time === undefined ? 'unset' : Math.floor(time);
		}

		case 'garbage':
		case 'shared': {
			return refused;
		}
	}
}

/** The results of Go's `FlexibleTime` for each field, in seconds. */
const timeCases = (inputs: ReadonlyArray<readonly [json: string, theirs: Time]>): readonly Case[] =>
	fields.flatMap((field) => inputs.map(([json, theirs]): Case => [`${field}: ${json}`, theirs, readTime(field, json)]));

const inEachTime = (json: string): readonly string[] => fields.map((field) => `${field}: ${json}`);

export const durationGroups: readonly Group[] = [
	{
		name: 'ParseDuration',
		origin: 'its tests',
		row: 'ParseDuration',
		cases: async () => [
			...durationCases({
				'30m': hour / 2,
				'2h': 2 * hour,
				'1d': 24 * hour,
				'0.5h': hour / 2,
				'0.5d': 12 * hour,
				'240m': 4 * hour,
				invalid: refused,
				abcm: refused,
				'abc.5h': refused,
			}),
			// An empty text is tested as typed.
			await lineCase(['reserve', '-d', ''], 'ok'),
		],
	},
	{
		name: 'durations, more inputs',
		origin: 'further inputs',
		row: 'durations, more inputs',
		cases: () =>
			durationCases({
				'1m': 60,
				'90m': 5400,
				'+5m': 300,
				'.5h': hour / 2,
				'1.h': hour,
				'1.5h': 1.5 * hour,
				'1.25d': 30 * hour,
				'007h': 7 * hour,
				'8760h': 8760 * hour,
				'365d': 8760 * hour,
				'0.25h': hour / 4,
				'3d': 72 * hour,
				'2h30': refused,
				'2H': refused,
				h: refused,
				'': refused,
				'1 h': refused,
				'1,5h': refused,
				'5': refused,
				'1w': refused,
				'1h1h': refused,
				'1e3h': refused,
				'0x1h': refused,
				'--1h': refused,
				'1.5.5h': refused,
				'0m': 0,
				'0h': 0,
				'0.0h': 0,
				'-5m': -300,
				'-1h': -hour,
				'-0.5h': -hour / 2,
				'99999999h': 99_999_999 * hour,
				'1h30m': refused,
				'1d12h': refused,
				'0.5m': refused,
				'30s': refused,
				' 2h ': refused,
			}),
		differences: {
			'0m': noTime,
			'0h': noTime,
			'0.0h': noTime,
			'-5m': noTime,
			'-1h': noTime,
			'-0.5h': noTime,
			'99999999h': 'more than a hundred years; there it overflows',
		},
		understoodHere: ['1h30m', '1d12h', '0.5m', '30s', ' 2h '],
	},
	{
		name: 'FormatDuration',
		origin: 'its tests',
		row: 'FormatDuration',
		cases: () =>
			(
				[
					[0, '0h 0m 0s'],
					[30, '0h 0m 30s'],
					[330, '0h 5m 30s'],
					[9045, '2h 30m 45s'],
					[25 * hour + 90 * 60 + 120, '26h 32m 0s'],
				] as const
			).map(([seconds, theirs]) => [String(seconds), theirs, longDuration(seconds)]),
	},
	{
		name: 'FormatTimeAgo, FormatTimeUntil, as status shows them',
		origin: 'its tests',
		row: 'FormatTimeAgo, FormatTimeUntil',
		cases: () => [
			['no heartbeat', 'active', detailsOf({})],
			['a heartbeat 2 h ago', 'heartbeat 2h 0m 0s ago', detailsOf({lastHeartbeat: 100_000 - 2 * hour})],
			['a heartbeat to come', 'heartbeat in the future', detailsOf({lastHeartbeat: 100_000 + hour})],
			['no end', 'manual reservation', detailsOf({type: 'manual'})],
			['an end in 2 h', 'expires in 2h 0m 0s', detailsOf({type: 'manual', expiryTime: 100_000 + 2 * hour})],
			['an end that was', 'expires in 0h 0m 0s', detailsOf({type: 'manual', expiryTime: 100_000 - hour})],
		],
	},
	{
		name: 'FormatUserList, FormatProcessList',
		origin: 'its tests',
		row: 'FormatUserList, FormatProcessList',
		cases: () => [
			['no user is known', 'unknown', usersOf(undefined)],
			['one user', 'alice', usersOf('alice')],
			['two users', 'alice and bob', usersOf('alice', 'bob')],
			['three users', 'alice, bob and 1 more', usersOf('alice', 'bob', 'carol')],
			['no process', '', processList([])],
			[
				'two processes',
				'PID 1 (python), PID 2 (torch)',
				processList([
					{pid: 1, name: 'python'},
					{pid: 2, name: 'torch'},
				]),
			],
			[
				'three processes',
				'PID 1 (a), PID 2 (b) and 1 more',
				processList([
					{pid: 1, name: 'a'},
					{pid: 2, name: 'b'},
					{pid: 3, name: 'c'},
				]),
			],
		],
		differences: {
			'three users': 'all users with commas: the one who is not named may be the one you look for',
		},
	},
	{
		name: 'FlexibleTime',
		origin: 'its tests',
		row: 'FlexibleTime',
		cases: () => [
			...timeCases([
				['1640995200', 1_640_995_200],
				['1640995200.123', 1_640_995_200],
				['"2022-01-01T00:00:00Z"', 1_640_995_200],
				['"2022-01-01T12:30:45-05:00"', 1_641_058_245],
				['"not-a-time"', refused],
			]),
			['no JSON: invalid', refused, readTime('start_time', 'invalid')],
		],
	},
	{
		name: 'FlexibleTime, more inputs',
		origin: 'further inputs',
		row: 'FlexibleTime, more inputs',
		cases: () =>
			timeCases([
				['null', 'unset'],
				['0', 0],
				['"1640995200"', 1_640_995_200],
				['"1640995200.5"', 1_640_995_200],
				['"2022-01-01T00:00:00.123456789+02:00"', 1_640_988_000],
				['"0001-01-01T00:00:00Z"', 'unset'],
				['"2022-02-30T00:00:00Z"', refused],
				['"2022-01-01"', refused],
				['true', refused],
				['{}', refused],
				['[]', refused],
				['""', refused],
				['"2026-11-22 03:07:39Z"', refused],
				['-1', -1],
				['"-1"', -1],
				// Both programs read milliseconds as a time in the year 53970.
				['1640995200000', 1_640_995_200_000],
			]),
		differences: {
			'expiry_time: -1': 'people write it for "never", and the GPU would be free at once: unknown is never free',
			'expiry_time: "-1"': 'as above',
		},
		// A missing time must not free a GPU, and RFC 3339 allows a space for the T.
		understoodHere: [...inEachTime('""'), ...inEachTime('"2026-11-22 03:07:39Z"')],
	},
];
