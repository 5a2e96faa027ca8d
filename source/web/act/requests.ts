/** What a page may ask for, checked before anything is done. */
import * as v from 'valibot';
import {parseDuration} from '../../core/rules/leases/durations.js';
import {CanhazgpuError} from '../../errors.js';

const index = v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(9999));
const gpus = v.pipe(v.array(index), v.minLength(1), v.maxLength(1024));
const name = v.pipe(v.string(), v.minLength(1), v.maxLength(100));

/** A page that got no answer asks again with the same id: the same thing is done once. */
const id = v.pipe(v.string(), v.regex(/^[\w\-]{16,64}$/v));

const wanted = {
	id,
	/** These very ones; absent: any. */
	gpus: v.optional(gpus),
	count: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(1024))),
	/** As it is typed: 30m, 2h. */
	duration: v.pipe(v.string(), v.maxLength(100)),
	note: v.optional(v.string()),
	/** Words that say what the GPUs must have, as the monitor takes them. */
	needs: v.optional(v.pipe(v.string(), v.maxLength(500))),
	/** The size of a part of each, as it is typed. */
	share: v.optional(v.pipe(v.string(), v.maxLength(100))),
	/** Also GPUs in use without a reservation. */
	force: v.optional(v.boolean()),
};

/** A lease by its id, on all of its GPUs or on some: a row that changed meanwhile is another lease's. */
const held = {id, lease_id: name, gpus: v.optional(gpus)};

const schemas = {
	reserve: v.strictObject(wanted),
	/** The same, in the queue where they are not free. */
	join: v.strictObject(wanted),
	extend: v.strictObject({...held, duration: wanted.duration}),
	release: v.strictObject(held),
	/** A release, by what its answer says. */
	undo: v.strictObject({id, undo_id: name}),
	leave: v.strictObject({id, entry_id: name}),
} as const;

export type ActName = keyof typeof schemas;

export const actNames = Object.keys(schemas) as readonly ActName[];

export type ActRequests = {readonly [Name in ActName]: v.InferOutput<(typeof schemas)[Name]>};

/** What a page sends to be let in. */
export const linkSchema = v.strictObject({token: v.pipe(v.string(), v.maxLength(200))});

/**
Reads the body of a request.

@throws CanhazgpuError `usage` that names the first field that makes no sense.
*/
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
	throw new CanhazgpuError('usage', `The request makes no sense${field === null ? '' : `: ${field}`}`);
}

export const parseAct = <Name extends ActName>(act: Name, text: string): ActRequests[Name] =>
	parseBody<v.GenericSchema>(schemas[act], text) as ActRequests[Name];

/** @throws CanhazgpuError `usage` in the words of the verbs. */
export const secondsOf = (duration: string): number => parseDuration(duration, 'Duration');
