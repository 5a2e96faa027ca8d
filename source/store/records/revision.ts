/** Encodes and decodes the revision, which counts the commits of a store: `COUNT BASE SECONDS RUN`. */
import type {Revision} from '../../core/model/types.js';

const countPattern = /^\d{1,15}$/v;
const sincePattern = /^\d{1,12}$/v;
const runPattern = /^\S*$/v;

/** Splits a revision into its four words. Undefined if invalid. */
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

/** Decodes the revision. Without a valid one, this program has never written to the store. Without `run`, assumes the run of the last commit. */
export function decodeRevision(raw: string | undefined, run: string | undefined): Revision {
	const stored = wordsOf(raw);
	if (stored === undefined) {
		return {count: 0, base: 0, run: run ?? '', since: undefined, raw};
	}

	const {count, base, since, run: storedRun} = stored;
	return run === undefined || run === storedRun
		? {count, base, run: storedRun, since, raw}
		: // Nothing was committed in this run yet, so the run begins with the stored count.
			{count, base: count, run, since: undefined, raw};
}

/** Encodes the revision after one more commit. The old revision must be of the current run. `restored` is the count up to which data is restored. */
export function encodeNextRevision({count, base, run, since}: Revision, now: number, restored?: number): string {
	const isBeginning = since === undefined || restored !== undefined;
	return [Math.max(count, restored ?? 0) + 1, restored ?? base, Math.floor(isBeginning ? now : since), run].join(' ');
}
