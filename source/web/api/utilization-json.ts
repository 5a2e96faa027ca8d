/** `GET /api/use`: how busy each GPU was over the last hours, as means over ten seconds, kept in memory only. */
import type {LiveState, LiveView} from '../../core/live/live-view.js';
import {emptyHistory, keysSince, recorded, seriesOf, type Load} from '../../core/live/utilization-history.js';

const stepSeconds = 10;
const windowMinutes = 6 * 60;

/** A whole percent; null where nothing is known. */
// eslint-disable-next-line @typescript-eslint/no-restricted-types -- JSON has no undefined
export type PercentJson = number | null;

/** One GPU: a value for each step, oldest first. */
export type GpuUtilizationJson = Readonly<Record<keyof Load, readonly PercentJson[]>>;

export type UtilizationJson = {
	readonly step_seconds: number;
	/** When the newest step began. */
	readonly end_ms: number;
	/** By index. */
	readonly gpus: Readonly<Record<string, GpuUtilizationJson>>;
};

export type UtilizationRecorder = {
	readonly add: (state: Pick<LiveState, 'lastScan' | 'now'>) => void;
	/** The last `minutes`, of one GPU or of all. */
	readonly last: (minutes: number, gpu?: number) => UtilizationJson;
};

export function createUtilizationRecorder(): UtilizationRecorder {
	const stepMs = stepSeconds * 1000;
	let history = emptyHistory({windowMs: windowMinutes * 60_000, stepMs, coverMs: stepMs});
	return {
		add({lastScan, now}) {
			if (lastScan !== undefined) {
				history = recorded(history, lastScan, {atMs: now * 1000, keyOf: ({index}) => String(index)});
			}
		},
		last(minutes, gpu) {
			const nowMs = history.samples.at(-1)?.atMs ?? 0;
			const spanMs = Math.min(minutes, windowMinutes) * 60_000;
			const columns = spanMs / stepMs;
			const percents = (key: string, reading: keyof Load): readonly PercentJson[] =>
				seriesOf(history, key, reading, {columns, nowMs, spanMs}).map((value) =>
					value === undefined ? null : Math.round(value * 100),
				);
			const keys =
				gpu === undefined
					? [...keysSince(history, nowMs - spanMs)].toSorted((a, b) => Number(a) - Number(b))
					: [String(gpu)];
			return {
				step_seconds: stepSeconds,
				end_ms: (Math.ceil(nowMs / stepMs) - 1) * stepMs,
				gpus: Object.fromEntries(
					keys.map((key) => [key, {utilization: percents(key, 'utilization'), memory: percents(key, 'memory')}]),
				),
			};
		},
	};
}

/** Records each scan of a live view. */
export function recordUtilization(liveView: Pick<LiveView, 'subscribe'>): UtilizationRecorder {
	const recorder = createUtilizationRecorder();
	liveView.subscribe((state, change) => {
		if (change === 'scan') {
			recorder.add(state);
		}
	});
	return recorder;
}
