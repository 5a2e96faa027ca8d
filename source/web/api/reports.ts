/** Reports for the page: one read of the history for all who ask for the same, and one at a time. */
import {CanhazgpuError} from '../../errors.js';
import type {webReportJson} from '../../format/tables/report.js';

/** `GET /api/report`. */
export type ReportJson = ReturnType<typeof webReportJson>;

/** `GET /api/held-use`. */
export type {HeldUseJson} from '../../format/tables/held-use.js';

export type ReportQuestion = {
	/** Another host; undefined for this one. */
	readonly host?: string;
	readonly days: number;
	readonly by: string;
	/** Instead of `days`, of this host alone: in seconds since the epoch. */
	readonly from?: number;
	readonly to?: number;
};

/** Questions are alike when their JSON is. */
export type Make<Question, Answer> = (question: Question) => Promise<Answer>;

export type MakeReport = Make<ReportQuestion, Record<string, unknown>>;

export type Reports<Question extends {readonly host?: string} = ReportQuestion, Answer = Record<string, unknown>> = {
	/** Rejects with a CanhazgpuError: `busy` when too many are asked for, and as the making does. */
	readonly report: Make<Question, Answer>;
};

/** A long history takes seconds to read. */
const rememberMs = 2000;
/** More of them than a page and a few scripts want; every period is a report of its own. */
const mostAtOnce = 16;

/** @param newestEvent - Its id: what was made before it is of the past. */
export function createReports<
	Question extends {readonly host?: string} = ReportQuestion,
	Answer extends Record<string, unknown> = Record<string, unknown>,
>(
	make: Make<Question, Answer>,
	monotonicMs: () => number,
	newestEvent: () => string | undefined = () => undefined,
): Reports<Question, Answer> {
	const made = new Map<string, {readonly answer: Promise<Answer>; readonly madeMs: number}>();
	/** By host: a host that does not answer holds up its own reports alone. */
	const last = new Map<string | undefined, Promise<unknown>>();

	async function makeInTurn(question: Question): Promise<Answer> {
		const before = last.get(question.host) ?? Promise.resolve();
		const own = before.then(async () => make(question));
		last.set(
			question.host,
			// Whether that one fails is for those who wait for it.
			own.catch(() => undefined),
		);
		return own;
	}

	/** What is too old to be shown is forgotten. */
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
			const key = JSON.stringify([newestEvent(), question]);
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
