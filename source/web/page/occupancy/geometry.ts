import type {PercentJson, UtilizationJson} from '../../api/utilization-json.js';

export type Span = {readonly fromMs: number; readonly toMs: number};

/** Returns the lane of each span. Spans that overlap, such as shares of a GPU, get different lanes, so that none covers another. */
export function lanesOf(spans: readonly Span[]): readonly number[] {
	const ends: number[] = [];
	const lanes = new Map<Span, number>();
	for (const span of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
		const free = ends.findIndex((end) => end <= span.fromMs);
		const lane = free === -1 ? ends.length : free;
		ends[lane] = span.toMs;
		lanes.set(span, lane);
	}

	return spans.map((span) => lanes.get(span)!);
}

export function coveredPart(spans: readonly Span[], {fromMs, toMs}: Span): number {
	let covered = 0;
	let reached = fromMs;
	for (const span of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
		const start = Math.max(reached, span.fromMs);
		const end = Math.min(toMs, span.toMs);
		if (!(end > start)) {
			continue;
		}

		covered += end - start;
		reached = end;
	}

	return covered / (toMs - fromMs);
}

/** Returns the times of the marks on the time axis: every `hours`, counted from local midnight. */
export function marksOf({fromMs, toMs}: Span, hours: number): readonly number[] {
	const start = new Date(fromMs);
	const marks: number[] = [];
	// Computes each mark from the date, because a local day can have 23 or 25 hours.
	for (let step = 0; ; step++) {
		const markMs = new Date(start.getFullYear(), start.getMonth(), start.getDate(), step * hours).getTime();
		if (markMs >= toMs) {
			return marks;
		}

		if (markMs > fromMs) {
			marks.push(markMs);
		}
	}
}

/** The width of a mark's label as a fraction of the chart's width, on wide and on narrow screens. */
const wordsParts = {time: {wide: 0.07, narrow: 0.16}, day: {wide: 0.1, narrow: 0.22}} as const;

const nowParts = {wide: 0.07, narrow: 0.14} as const;

/** Returns on which screens a label fits between the chart's edge and the label of the current time: none, only wide ones, or all (undefined). */
export function roomOf(
	ms: number,
	{fromMs, nowMs, toMs}: {readonly fromMs: number; readonly nowMs: number; readonly toMs: number},
	words: keyof typeof wordsParts,
): 'none' | 'wide' | undefined {
	const isPast = ms < nowMs;
	const ahead = ((isPast ? nowMs : toMs) - ms) / (toMs - fromMs);
	const behind = isPast ? 1 : (ms - nowMs) / (toMs - fromMs);
	const lacksRoom = (screen: 'wide' | 'narrow'): boolean =>
		ahead < wordsParts[words][screen] || behind < nowParts[screen];
	return lacksRoom('wide') ? 'none' : lacksRoom('narrow') ? 'wide' : undefined;
}

/** The width and height of a curve in the coordinates of its SVG. */
const width = 1000;
const height = 100;

/** Returns the filled curve of a GPU's utilization as an SVG path of steps. The values are in percent, oldest first. Unknown values are gaps. */
export function curveOf(
	values: readonly PercentJson[],
	{step_seconds: stepSeconds, end_ms: endMs}: Pick<UtilizationJson, 'step_seconds' | 'end_ms'>,
	{fromMs, toMs}: Span,
): string {
	const stepMs = stepSeconds * 1000;
	const x = (ms: number): string => (((Math.max(ms, fromMs) - fromMs) / (toMs - fromMs)) * width).toFixed(1);
	let path = '';
	let isOpen = false;
	for (const [index, value] of [...values, null].entries()) {
		const startMs = endMs - (values.length - 1 - index) * stepMs;
		if (value === null || startMs + stepMs <= fromMs) {
			path += isOpen ? `V${height}Z` : '';
			isOpen = false;
			continue;
		}

		path += `${isOpen ? '' : `M${x(startMs)} ${height}`}V${height - value}H${x(startMs + stepMs)}`;
		isOpen = true;
	}

	return path;
}
