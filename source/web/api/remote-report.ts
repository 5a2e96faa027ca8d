/** What another host's `report --json` says, in the words of this API. That host may say whatever it likes: only what is as it should be is kept. */
import * as v from 'valibot';
import {sanitize} from '../../format/text/text.js';
import {CanhazgpuError} from '../../errors.js';

const longestText = 200;
const mostRows = 1000;

const text = v.pipe(
	v.string(),
	v.transform((words) => sanitize(words.slice(0, longestText))),
);
const number = v.fallback(v.pipe(v.number(), v.finite(), v.minValue(0)), 0);
const date = v.pipe(
	text,
	v.check((words) => !Number.isNaN(Date.parse(words))),
);

const rowSchema = v.object({
	name: text,
	gpu_hours: number,
	mig_instance_hours: v.optional(number),
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
	total_mig_instance_hours: v.optional(number),
	total_reservations: number,
	unique_users: number,
	start_date: date,
	end_date: date,
	// The peer tells whole days alone.
	since: v.optional(date),
	until: v.optional(date),
	days: number,
});

/** @throws CanhazgpuError `failed` for what is no report. */
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
