/** Where spans of time stand in a row, and the marks of the time axis. Pure. */

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
	// By the clock on the wall: a day may have 23 or 25 hours.
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
