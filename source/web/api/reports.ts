/** Reports for the page: one read of the history for all who ask for the same, and one at a time. */
import * as v from 'valibot';
import {CanhazgpuError} from '../../errors.js';
import type {webReportJson} from '../../format/tables/report.js';
import {sanitize} from '../../format/text/text.js';

/** Every number may be unknown. */
type WithUnknown<Json> = {[Name in keyof Json]: Json[Name] extends number ? number | undefined : Json[Name]};

type OwnReportJson = ReturnType<typeof webReportJson>;

/** `GET /api/report`. A number that another host does not tell is absent. */
export type ReportJson = WithUnknown<Omit<OwnReportJson, 'users'>> & {
	readonly users: ReadonlyArray<WithUnknown<OwnReportJson['users'][number]>>;
};

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

/** Makes an answer. Questions are alike when their JSON is. */
export type Make<Question, Answer> = (question: Question) => Promise<Answer>;

/** A long history takes seconds to read. */
const rememberMs = 2000;
/** More of them than a page and a few scripts want; every period is a report of its own. */
const mostAtOnce = 16;

/**
Answers as `make` does, from what was made a moment ago where that is the same. Rejects with a CanhazgpuError `busy` when too many are asked for.

@param newestEvent - Its id: what was made before it is of the past.
*/
export function createReports<Question extends {readonly host?: string}, Answer>(
	make: Make<Question, Answer>,
	monotonicMs: () => number,
	newestEvent: () => string | undefined = () => undefined,
): Make<Question, Answer> {
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

	return async (question) => {
		forgetOld();
		const key = JSON.stringify([newestEvent(), question]);
		const known = made.get(key);
		if (known !== undefined) {
			return known.answer;
		}

		const underWay = made.values().filter(({madeMs}) => madeMs === Infinity);
		if (underWay.toArray().length >= mostAtOnce) {
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

/** The peer writes null for an empty list. */
const rows = v.nullish(v.pipe(v.array(rowSchema), v.maxLength(mostRows)));

const schema = v.object({
	// Named for what the report counts by; the peer has users alone.
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
	// The peer tells whole days alone.
	since: v.optional(date),
	until: v.optional(date),
	days: number,
});

/**
What another host's `report --json` says, in the words of this API. That host may say whatever it likes: only what is as it should be is kept.

@throws CanhazgpuError `failed` for what is no report.
*/
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
