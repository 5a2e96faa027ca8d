/** Reports for the page: one read of the history for all who ask for the same. */
export type Reports = {
	/** Rejects with a CanhazgpuError `usage` for an unknown `by`. */
	readonly report: (days: number, by: string) => Promise<Record<string, unknown>>;
};

/** A long history takes seconds to read. */
const rememberMs = 2000;

export function createReports(make: Reports['report'], monotonicMs: () => number): Reports {
	const made = new Map<string, {readonly answer: Promise<Record<string, unknown>>; readonly madeMs: number}>();
	return {
		async report(days, by) {
			const key = `${days} ${by}`;
			const known = made.get(key);
			if (known !== undefined && monotonicMs() - known.madeMs < rememberMs) {
				return known.answer;
			}

			const started = make(days, by);
			// While it is being made it is as new as can be.
			made.set(key, {answer: started, madeMs: Infinity});
			try {
				const answer = await started;
				made.set(key, {answer: started, madeMs: monotonicMs()});
				return answer;
			} catch (error) {
				made.delete(key);
				throw error;
			}
		},
	};
}
