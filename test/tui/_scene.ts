/** Five minutes of the scene, and what was told of it. */
import type {AuditEntry, GpuReading} from '../../source/core/model/types.js';
import type {Action} from '../../source/tui/state/actions.js';
import {sceneTime, type Box} from './_world.js';

/** A share of what the GPU does now: it began three minutes ago, with a minute in which nothing was read. */
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

/** The scans of the last five minutes, before the monotonic time 1000. */
export const pastOf = ({readings}: Box): readonly Action[] =>
	Array.from({length: 150}, (_, place): Action => {
		const secondsAgo = 2 * (150 - place);
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

const entries: readonly AuditEntry[] = [
	{id: '1', time: sceneTime - 4330, kind: 'granted', account: 'alice', gpus: [0], note: 'eval 70B'},
	{id: '2', time: sceneTime - 1330, kind: 'joined', account: 'erin', gpus: [3]},
	{id: '3', time: sceneTime - 55, kind: 'unreserved', account: 'dave', gpus: [6]},
	{id: '4', time: sceneTime - 2, kind: 'released', account: 'alice', gpus: [2]},
];

export const told: Action = {kind: 'events-arrived', entries};

/** What was used in a month. */
export const reported: Action = {
	kind: 'report-arrived',
	report: {
		kind: 'made',
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
