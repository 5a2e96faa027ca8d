/** Reports for the page. Requests for the same report share one read of the history. For each host, only one read runs at a time. */
import * as v from 'valibot';
import {CanhazgpuError} from '../../errors.js';
import type {webReportJson} from '../../format/tables/report.js';
import {sanitize} from '../../format/text/text.js';

type WithUnknown<Json> = {[Name in keyof Json]: Json[Name] extends number ? number | undefined : Json[Name]};

type OwnReportJson = ReturnType<typeof webReportJson>;

/** The answer to `GET /api/report`. Numbers that another host does not report are absent. */
export type ReportJson = WithUnknown<Omit<OwnReportJson, 'users'>> & {
	readonly users: ReadonlyArray<WithUnknown<OwnReportJson['users'][number]>>;
};

export type {HeldUseJson} from '../../format/tables/held-use.js';

export type ReportQuestion = {
	readonly host?: string;
	readonly days: number;
	readonly by: string;
	/** Start of the period, in seconds since the epoch. Replaces `days`. Cannot be combined with `host`. */
	readonly from?: number;
	readonly to?: number;
};

/** Computes the answer to a question. Two questions are equal if their JSON is equal. */
export type Make<Question, Answer> = (question: Question) => Promise<Answer>;

/** Cache time in ms. Answers are cached because reading a long history takes seconds. */
const rememberMs = 2000;
const mostAtOnce = 16;

/** A running, waiting or finished read. */
type Read<Answer> = {
	readonly answer: Promise<Answer>;
	/** The newest event when the read began. While the read waits for its turn, it has not begun. */
	begun?: {readonly event: string | undefined};
	/** Infinity until the answer is known. */
	madeMs: number;
};

/**
Caches the answers of `make`. For each question, at most one read runs and one waits. Rejects with a CanhazgpuError `busy` if too many questions are
being answered.
@param newestEvent - Returns the id of the newest event. Reads that began before that event are not used for new requests.
*/
export function createReports<Question extends {readonly host?: string}, Answer>(
	make: Make<Question, Answer>,
	monotonicMs: () => number,
	newestEvent: () => string | undefined = () => undefined,
): Make<Question, Answer> {
	/** The last read of each question. */
	const reads = new Map<string, Read<Answer>>();
	/** The last read for each host. Reads for different hosts run in parallel, so that an unresponsive host delays only its own reports. */
	const last = new Map<string | undefined, Promise<unknown>>();

	async function makeInTurn(question: Question, began: () => void): Promise<Answer> {
		const before = last.get(question.host) ?? Promise.resolve();
		const own = before.then(async () => {
			began();
			return make(question);
		});
		last.set(
			question.host,
			// If the earlier read fails, only its own callers get the error.
			own.catch(() => undefined),
		);
		return own;
	}

	function forgetOld(): void {
		for (const [key, {madeMs}] of reads) {
			if (monotonicMs() - madeMs >= rememberMs) {
				reads.delete(key);
			}
		}
	}

	return async (question) => {
		forgetOld();
		const key = JSON.stringify(question);
		const known = reads.get(key);
		if (known !== undefined && (known.begun === undefined || known.begun.event === newestEvent())) {
			return known.answer;
		}

		const underWay = reads.values().filter(({madeMs}) => madeMs === Infinity);
		if (underWay.toArray().length >= mostAtOnce) {
			throw new CanhazgpuError('busy', 'Too many reports are being created');
		}

		const read: Read<Answer> = {
			answer: makeInTurn(question, () => {
				read.begun = {event: newestEvent()};
			}),
			madeMs: Infinity,
		};
		reads.set(key, read);
		try {
			const answer = await read.answer;
			read.madeMs = monotonicMs();
			return answer;
		} catch (error) {
			if (reads.get(key) === read) {
				reads.delete(key);
			}

			throw error;
		}
	};
}

const longestText = 200;
const mostRows = 1000;

const text = v.pipe(
	v.string(),
	v.transform((words) => sanitize(words.slice(0, longestText))),
);
const number = v.fallback(v.optional(v.pipe(v.number(), v.finite(), v.minValue(0))), undefined);
const date = v.pipe(
	text,
	v.check((words) => !Number.isNaN(Date.parse(words))),
);

const rowSchema = v.object({
	name: text,
	gpu_hours: number,
	mig_instance_hours: number,
	percentage: number,
	run_count: number,
	manual_count: number,
});

/** The Go program writes null for an empty list. */
const rows = v.nullish(v.pipe(v.array(rowSchema), v.maxLength(mostRows)));

const schema = v.object({
	// The name of the list depends on `by`. The Go program reports only users.
	users: rows,
	gpus: rows,
	daily: rows,
	models: rows,
	total_gpu_hours: number,
	total_mig_instance_hours: number,
	total_reservations: number,
	unique_users: number,
	start_date: date,
	end_date: date,
	// The Go program reports only whole days.
	since: v.optional(date),
	until: v.optional(date),
	days: number,
});

/** Converts the `report --json` of another host. Drops invalid values, because the host is not trusted. Throws `failed` for an invalid report. */
export function fromCommandReport(host: string, answer: Readonly<Record<string, unknown>>) {
	const result = v.safeParse(schema, answer);
	if (!result.success) {
		throw new CanhazgpuError('failed', `${host}: its answer is not a report`);
	}

	const {users, gpus, daily, models, since, until, ...sums} = result.output;
	return {
		users: users ?? gpus ?? daily ?? models ?? [],
		...sums,
		since: since ?? sums.start_date,
		until: until ?? sums.end_date,
	};
}
