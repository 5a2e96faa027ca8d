/** Where the spans of time, the marks of the time axis and the curves stand. Pure. */
import type {PercentJson, UtilizationJson} from '../../api/utilization-json.js';

export type Span = {readonly fromMs: number; readonly toMs: number};

/** The number of a lane for each span, so that none covers another; shares of a GPU overlap in time. */
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

/** How much of the window is covered by at least one span, from 0 to 1. */
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

/** The local times within a window that a mark stands at: each `hours` from midnight on. */
export function marksOf({fromMs, toMs}: Span, hours: number): readonly number[] {
	const start = new Date(fromMs);
	const marks: number[] = [];
	// The hours are those of the local clock: a day may have 23 or 25 of them.
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

/** Parts of the picture that the words of a mark need, on wide and on narrow screens: a time, and the name of a day. */
const wordsParts = {time: {wide: 0.07, narrow: 0.16}, day: {wide: 0.1, narrow: 0.22}} as const;

/** What the word of the present needs. */
const nowParts = {wide: 0.07, narrow: 0.14} as const;

/** Where the words of a mark have no room: before the present or the edge of the picture, or because the word of the present is there. */
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

/** A curve is 1000 wide, whatever time that is, and 100 high. */
const width = 1000;
const height = 100;

/**
How busy a GPU was, as the path of a filled curve. Steps over the time that is drawn, from the left of the window to its right. What is not known is a gap, and what lies before the window is left out.

@param values - In percent, oldest first.
*/
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
