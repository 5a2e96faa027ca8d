/** The stored count of a store's commits: `COUNT BASE SECONDS RUN`. */
import type {Revision} from '../../core/model/types.js';

const countPattern = /^\d{1,15}$/v;
const sincePattern = /^\d{1,12}$/v;
const runPattern = /^\S*$/v;

/** Splits the four words. Undefined if invalid. Called for every read, so without a regular expression. */
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
Decodes the revision. An invalid or absent one means that this program has not written to the store yet.
@param run - The store's current run. Undefined if unknown: the run of the last commit is then assumed.
*/
export function decodeRevision(raw: string | undefined, run: string | undefined): Revision {
	const stored = wordsOf(raw);
	if (stored === undefined) {
		return {count: 0, base: 0, run: run ?? '', since: undefined, raw};
	}

	const {count, base, since, run: storedRun} = stored;
	return run === undefined || run === storedRun
		? {count, base, run: storedRun, since, raw}
		: // Nothing was committed in this run yet, so the run begins with this count.
			{count, base: count, run, since: undefined, raw};
}

/**
Encodes the revision after one more commit.
@param before - As decoded for the current run.
@param now - The store's clock, in seconds.
@param restored - Set if the commit restores a reader's data: all commits up to this count are back.
*/
export function encodeNextRevision({count, base, run, since}: Revision, now: number, restored?: number): string {
	const isBeginning = since === undefined || restored !== undefined;
	return [Math.max(count, restored ?? 0) + 1, restored ?? base, Math.floor(isBeginning ? now : since), run].join(' ');
}
