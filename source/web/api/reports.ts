/** Reports for the page: one read of the history for all who ask for the same, and one at a time. */
import {CanhazgpuError} from '../../errors.js';
import type {webReportJson} from '../../format/tables/report.js';

/** `GET /api/report`. */
export type ReportJson = ReturnType<typeof webReportJson>;

export type ReportQuestion = {
	/** Another host; undefined for this one. */
	readonly host?: string;
	readonly days: number;
	readonly by: string;
};

export type MakeReport = (question: ReportQuestion) => Promise<Record<string, unknown>>;

export type Reports = {
	/** Rejects with a CanhazgpuError: `usage` for an unknown `by`, `busy` when too many are asked for. */
	readonly report: MakeReport;
};

/** A long history takes seconds to read. */
const rememberMs = 2000;
/** More of them than a page and a few scripts want; every period is a report of its own. */
const mostAtOnce = 16;

export function createReports(make: MakeReport, monotonicMs: () => number): Reports {
	const made = new Map<string, {readonly answer: Promise<Record<string, unknown>>; readonly madeMs: number}>();
	/** By host: a host that does not answer holds up its own reports alone. */
	const last = new Map<string | undefined, Promise<unknown>>();

	async function makeInTurn(question: ReportQuestion): Promise<Record<string, unknown>> {
		const before = last.get(question.host) ?? Promise.resolve();
		const own = before.then(async () => make(question));
		last.set(
			question.host,
			// Whether that one fails is for those who wait for it.
			own.catch(() => undefined),
		);
		return own;
	}

	/** What nobody will be shown any more is forgotten. */
	function forgetOld(): void {
		for (const [key, {madeMs}] of made) {
			if (monotonicMs() - madeMs >= rememberMs) {
				made.delete(key);
			}
		}
	}

	return {
		async report(question) {
			forgetOld();
			const {host = '', days, by} = question;
			const key = `${days} ${by} ${host}`;
			const known = made.get(key);
			if (known !== undefined) {
				return known.answer;
			}

			if (made.values().reduce((count, {madeMs}) => count + (madeMs === Infinity ? 1 : 0), 0) >= mostAtOnce) {
				throw new CanhazgpuError('busy', 'Too many reports are being made');
			}

			const started = makeInTurn(question);
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
