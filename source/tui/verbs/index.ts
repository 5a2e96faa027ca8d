/** The registry: every verb of the monitor, in the order in which the help and the footer name them. */
import {copy} from './copy.js';
import {undo} from './undo.js';
import type {Verb} from './verb.js';

export const verbs = {
	/** Before the keys that move over the table. */
	pool: [],
	/** Among the keys about processes. */
	processes: [],
	/** Among the keys that change nothing of the pool. */
	aside: [undo, copy],
	/** At the very end. */
	end: [],
} as const satisfies Readonly<Record<string, readonly Verb[]>>;

const byName = new Map(
	Object.values(verbs)
		.flat()
		.map((verb: Verb) => [verb.name, verb]),
);

/** The verb whose dialog it is. */
export const verbOf = ({verb}: {readonly verb: string}): Verb => byName.get(verb)!;
