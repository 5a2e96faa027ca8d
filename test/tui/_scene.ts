/** Five minutes of readings of the scene, and their events. */
import type {AuditEntry, GpuReading, UsageRecord} from '../../source/core/model/types.js';
import {decodeHour, encodeMinute, hourOf, minuteOf, withScan} from '../../source/core/rules/pool/load-minutes.js';
import type {Action} from '../../source/tui/state/actions.js';
import {sceneTime, type Box} from './_world.js';

/** Returns the load at that time as a share of the present load. It started three minutes ago and has a minute without readings. */
function shareAt(secondsAgo: number): number | undefined {
	return secondsAgo > 100 && secondsAgo < 160 ? undefined : Math.max(0, 1 - secondsAgo / 200);
}

const scaled = (value: number | undefined, share: number | undefined): number | undefined =>
	value === undefined || share === undefined ? undefined : Math.round(value * share);

function readingAt(reading: GpuReading, secondsAgo: number): GpuReading {
	const share = shareAt(secondsAgo);
	return {
		...reading,
		utilizationPercent: scaled(reading.utilizationPercent, share),
		memoryUsedMiB: scaled(reading.memoryUsedMiB, share),
	};
}

/** The scans of the last five minutes before the monotonic time 1000. */
export const pastOf = ({readings}: Box): readonly Action[] =>
	Array.from({length: 150}, (_, index): Action => {
		const secondsAgo = 2 * (150 - index);
		return {
			kind: 'scan-arrived',
			nowMs: 1000,
			observation: {
				provider: 'nvidia',
				takenAtMs: 1000 - secondsAgo * 1000,
				simulated: false,
				gpus: readings.map((reading) => readingAt(reading, secondsAgo)),
				warnings: [],
			},
		};
	});

/** The recorded minutes of a day: GPU 0 is busy at night, and nothing was recorded from 14 to 11 hours ago. */
export function nightOf({readings}: Box): Action {
	const hour = 3600;
	const minutes = Array.from({length: 1440}, (_, index) => {
		const secondsAgo = 60 * (1440 - index);
		const share = secondsAgo > 20 * hour || secondsAgo < 5 * hour ? 0.1 : 0.4 + 0.5 * (secondsAgo / (20 * hour));
		const gpus = readings.map((reading) => ({
			...reading,
			utilizationPercent: scaled(100, share),
			memoryUsedMiB: scaled(reading.memoryTotalMiB, share / 2),
		}));
		const line = encodeMinute(withScan(undefined, {gpus}, sceneTime - secondsAgo).underWay!);
		return secondsAgo < 14 * hour && secondsAgo > 11 * hour
			? []
			: decodeHour(hourOf(minuteOf(sceneTime - secondsAgo)), line, minuteOf(sceneTime));
	}).flat();
	const held = (user: string, hoursAgo: number, untilHoursAgo: number): UsageRecord => ({
		user,
		gpuId: 0,
		startTime: sceneTime - hoursAgo * hour,
		endTime: sceneTime - untilHoursAgo * hour,
		durationSeconds: (hoursAgo - untilHoursAgo) * hour,
		reservationType: 'run',
	});
	return {
		kind: 'past-arrived',
		past: {
			kind: 'read',
			past: {
				from: sceneTime - 24 * hour,
				to: sceneTime,
				minutes,
				usage: [held('模型-team', 40, 20), held('carol', 20, 5), held('bob', 4, 3.5)],
			},
		},
	};
}

const entries: readonly AuditEntry[] = [
	{id: '1', time: sceneTime - 4330, kind: 'granted', account: 'alice', gpus: [0], note: 'eval 70B'},
	{id: '2', time: sceneTime - 1330, kind: 'joined', account: 'erin', gpus: [3]},
	{id: '3', time: sceneTime - 55, kind: 'unreserved', account: 'dave', gpus: [6]},
	{id: '4', time: sceneTime - 2, kind: 'released', account: 'alice', gpus: [2]},
];

export const eventsArrived: Action = {kind: 'events-arrived', entries};

/** The usage of a month. */
export const reported: Action = {
	kind: 'report-arrived',
	report: {
		kind: 'made',
		days: 30,
		by: 'user',
		report: {
			rows: [
				{key: 'carol', gpuHours: 1204.5, percentage: 61.2, runCount: 31, manualCount: 2},
				{key: 'alice', gpuHours: 700.25, percentage: 35.6, runCount: 12, manualCount: 9},
				{key: '模型-team', gpuHours: 63, percentage: 3.2, runCount: 0, manualCount: 3},
			],
			totalGpuHours: 1967.75,
			totalReservations: 57,
			uniqueUsers: 3,
			window: {from: sceneTime - 30 * 86_400, to: sceneTime},
		},
	},
};
