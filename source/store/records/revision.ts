/** How many commits a store has seen, as it is stored: `COUNT BASE SECONDS RUN`. */
import type {Revision} from '../../core/model/types.js';

const pattern = /^(?<count>\d{1,15}) (?<base>\d{1,15}) (?<since>\d{1,12}) (?<run>\S*)$/v;

/**
Reads the revision. What is not one, or is absent, is that of a store that this program has not written to yet.

@param raw - As stored; undefined when nothing is.
@param run - The store's present run; undefined when that is not known: then it is the one in which the last commit was made.
*/
export function decodeRevision(raw: string | undefined, run: string | undefined): Revision {
	const stored = raw === undefined ? null : pattern.exec(raw);
	if (stored === null) {
		return {count: 0, base: 0, run: run ?? '', since: undefined, raw};
	}

	const [, countText, base, since, storedRun] = stored;
	const count = Number(countText);
	return run === undefined || run === storedRun
		? {count, base: Number(base), run: storedRun!, since: Number(since), raw}
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
