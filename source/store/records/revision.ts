/** How many commits a store has seen, as it is stored: `COUNT BASE SECONDS RUN`. */
import type {Revision} from '../../core/model/types.js';

const countPattern = /^\d{1,15}$/v;
const sincePattern = /^\d{1,12}$/v;
const runPattern = /^\S*$/v;

/** The four words of it; undefined where it is none. It is read with everything, so that no pattern takes it apart. */
function wordsOf(raw: string | undefined) {
	const [count = '', base = '', since = '', run = '', ...rest] = raw?.split(' ') ?? [];
	return rest.length === 0 &&
		countPattern.test(count) &&
		countPattern.test(base) &&
		sincePattern.test(since) &&
		runPattern.test(run)
		? {count: Number(count), base: Number(base), since: Number(since), run}
		: undefined;
}

/**
Reads the revision. What is not one, or is absent, is that of a store that this program has not written to yet.

@param raw - As stored; undefined when nothing is.
@param run - The store's present run; undefined when that is not known: then it is the one in which the last commit was made.
*/
export function decodeRevision(raw: string | undefined, run: string | undefined): Revision {
	const stored = wordsOf(raw);
	if (stored === undefined) {
		return {count: 0, base: 0, run: run ?? '', since: undefined, raw};
	}

	const {count, base, since, run: storedRun} = stored;
	return run === undefined || run === storedRun
		? {count, base, run: storedRun, since, raw}
		: // Nothing was committed in this run yet: it begins with what it found.
			{count, base: count, run, since: undefined, raw};
}

/**
The stored form of the revision after one more commit.

@param before - As it was decoded for the present run.
@param now - The store's clock, in seconds.
@param restored - When the commit puts back what a reader knew of this count: every commit up to it is there again.
*/
export function encodeNextRevision({count, base, run, since}: Revision, now: number, restored?: number): string {
	const isBeginning = since === undefined || restored !== undefined;
	return [Math.max(count, restored ?? 0) + 1, restored ?? base, Math.floor(isBeginning ? now : since), run].join(' ');
}
