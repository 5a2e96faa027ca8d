import * as v from 'valibot';
import {parseHold} from '../../core/rules/leases/durations.js';
import {CanhazgpuError} from '../../errors.js';

const index = v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(9999));
const gpus = v.pipe(v.array(index), v.minLength(1), v.maxLength(1024));
const name = v.pipe(v.string(), v.minLength(1), v.maxLength(100));

/** An id that the page chooses. A request that is repeated with the same id is carried out only once. */
const id = v.pipe(v.string(), v.regex(/^[\w\-]{16,64}$/v));

const wanted = {
	id,
	gpus: v.optional(gpus),
	count: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(1024))),
	duration: v.pipe(v.string(), v.maxLength(100)),
	note: v.optional(v.string()),
	/** Requirements as text, such as `40G h100 nvlink`. */
	needs: v.optional(v.pipe(v.string(), v.maxLength(500))),
	share: v.optional(v.pipe(v.string(), v.maxLength(100))),
	force: v.optional(v.boolean()),
};

/** The fields that select a lease and some or all of its GPUs. Thanks to the lease id, a newer reservation of the same GPU is never changed. */
const held = {id, lease_id: name, gpus: v.optional(gpus)};

const schemas = {
	reserve: v.strictObject(wanted),
	/** Like `reserve`, but waits in the queue if the GPUs are not free. */
	join: v.strictObject(wanted),
	extend: v.strictObject({...held, duration: wanted.duration}),
	/** Keeps an idle reservation for `duration`. */
	keep: v.strictObject({...held, duration: wanted.duration}),
	release: v.strictObject(held),
	undo: v.strictObject({id, undo_id: name}),
	leave: v.strictObject({id, entry_id: name}),
	cancel: v.strictObject({id, job_id: name}),
	retry: v.strictObject({id, job_id: name}),
} as const;

export type ActName = keyof typeof schemas;

export const actNames = Object.keys(schemas) as readonly ActName[];

export type ActRequests = {readonly [Name in ActName]: v.InferOutput<(typeof schemas)[Name]>};

export const linkSchema = v.strictObject({token: v.pipe(v.string(), v.maxLength(200))});

/** Parses the body of a request. Throws `usage` with the first invalid field. */
export function parseBody<Schema extends v.GenericSchema>(schema: Schema, text: string): v.InferOutput<Schema> {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		throw new CanhazgpuError('usage', 'The body is not JSON');
	}

	const result = v.safeParse(schema, value);
	if (result.success) {
		return result.output;
	}

	const field = v.getDotPath(result.issues[0]);
	throw new CanhazgpuError('usage', `The request is invalid${field === null ? '' : `: ${field}`}`);
}

export const parseAct = <Name extends ActName>(act: Name, text: string): ActRequests[Name] =>
	parseBody<v.GenericSchema>(schemas[act], text) as ActRequests[Name];

export const secondsOf = (duration: string): number => parseHold(duration, 'Duration');
