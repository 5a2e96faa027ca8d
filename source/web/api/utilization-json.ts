/** `GET /api/use`: ten-second averages from this server's memory. Older values and periods over six hours are one-minute averages from the pool. */
import type {LiveState, LiveView} from '../../core/live/live-view.js';
import {
	pastHistory,
	emptyHistory,
	keysSince,
	recorded,
	seriesOf,
	type UtilizationHistory,
} from '../../core/live/utilization-history.js';
import type {Load, MinuteLoads} from '../../core/model/observation.js';
import {loadName, minuteOf} from '../../core/rules/pool/load-minutes.js';

const stepSeconds = 10;
const windowMinutes = 6 * 60;
const minuteMs = 60_000;

/** The longest period that can be requested: one day. */
export const mostMinutes = 24 * 60;

// eslint-disable-next-line @typescript-eslint/no-restricted-types -- JSON has no undefined
export type PercentJson = number | null;

export type GpuUtilizationJson = Readonly<Record<keyof Load, readonly PercentJson[]>>;

export type UtilizationJson = {
	readonly step_seconds: number;
	readonly end_ms: number;
	readonly gpus: Readonly<Record<string, GpuUtilizationJson>>;
};

export type UtilizationRecorder = {
	readonly add: (state: Pick<LiveState, 'lastScan' | 'now'>) => void;
	/** Returns the last `minutes`. `kept` has the one-minute averages of the pool, for the time before this server started. */
	readonly last: (minutes: number, question?: UtilizationQuestion, kept?: readonly MinuteLoads[]) => UtilizationJson;
	/** Returns the name of a GPU in the load history. Returns undefined before the first scan of the GPU. */
	readonly nameOf: (gpu: number) => string | undefined;
};

type UtilizationQuestion = {
	readonly gpu?: number | undefined;
	/** Maximum number of values for each GPU. If there are more, several values are averaged into one. */
	readonly points?: number;
};

type Missing = {readonly key: string; readonly name: string; readonly windowMs: number};

/** Combines the pool's one-minute averages of a GPU with the samples that this server has taken. */
function withMinutes(
	own: UtilizationHistory,
	minutes: readonly MinuteLoads[],
	{key, name, windowMs}: Missing,
): UtilizationHistory {
	const past = pastHistory(minutes, emptyHistory(own), {key, name, windowMs, ownOffsetMs: 0});
	const begun = begunIn(own);
	const kept = past.samples.map((sample) =>
		minuteOf(sample.atMs / 1000) === begun?.minute ? {...sample, atMs: begun.unseenMs} : sample,
	);
	return {...past, samples: [...kept, ...own.samples].toSorted((a, b) => a.atMs - b.atMs)};
}

/** Returns the minute of the first sample, and the midpoint of the unrecorded part of that minute. Undefined if less than a step is unrecorded. */
function begunIn({samples, stepMs}: UtilizationHistory) {
	const [first] = samples;
	const unseen = (first?.atMs ?? 0) % minuteMs;
	return first === undefined || unseen < stepMs
		? undefined
		: {minute: minuteOf(first.atMs / 1000), unseenMs: first.atMs - unseen / 2};
}

export function createUtilizationRecorder(): UtilizationRecorder {
	const stepMs = stepSeconds * 1000;
	let names: ReadonlyMap<string, string> = new Map();
	let history = emptyHistory({windowMs: windowMinutes * 60_000, stepMs, coverMs: stepMs});
	return {
		add({lastScan, now}) {
			if (lastScan === undefined) {
				return;
			}

			if (lastScan.failure === undefined) {
				names = new Map(lastScan.gpus.map((reading) => [String(reading.index), loadName(reading)]));
			}

			history = recorded(history, lastScan, {atMs: now * 1000, keyOf: ({index}) => String(index)});
		},
		nameOf: (gpu) => names.get(String(gpu)),
		last(minutes, {gpu, points = Infinity} = {}, kept = []) {
			const nowMs = history.samples.at(-1)?.atMs ?? 0;
			const finestMs = minutes > windowMinutes ? minuteMs : stepMs;
			const askedMs = Math.min(minutes, mostMinutes) * minuteMs;
			const shownStepMs = finestMs * Math.max(1, Math.ceil(askedMs / finestMs / points));
			const columns = Math.ceil(askedMs / shownStepMs);
			const spanMs = columns * shownStepMs;
			const seen = new Set(history.samples.map(({atMs}) => minuteOf(atMs / 1000)));
			const begun = begunIn(history)?.minute;
			const missing = kept.filter(({minute}) => !seen.has(minute) || minute === begun);
			const whole = (key: string): UtilizationHistory =>
				missing.length === 0
					? history
					: withMinutes(history, missing, {key, name: names.get(key) ?? '', windowMs: spanMs});
			const percents = (key: string, reading: keyof Load): readonly PercentJson[] =>
				seriesOf(whole(key), key, reading, {columns, nowMs, spanMs}).map((value) =>
					value === undefined ? null : Math.round(value * 100),
				);
			const keys =
				gpu === undefined
					? [...keysSince(history, nowMs - spanMs)].toSorted((a, b) => Number(a) - Number(b))
					: [String(gpu)];
			return {
				step_seconds: shownStepMs / 1000,
				end_ms: (Math.ceil(nowMs / shownStepMs) - 1) * shownStepMs,
				gpus: Object.fromEntries(
					keys.map((key) => [key, {utilization: percents(key, 'utilization'), memory: percents(key, 'memory')}]),
				),
			};
		},
	};
}

export function recordUtilization(liveView: Pick<LiveView, 'subscribe'>): UtilizationRecorder {
	const recorder = createUtilizationRecorder();
	liveView.subscribe((state, change) => {
		if (change === 'scan') {
			recorder.add(state);
		}
	});
	return recorder;
}
