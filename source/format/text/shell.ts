/** Commands as a person would type them. */
import {CanhazgpuError, cutShort} from '../../errors.js';

const safe = /^[\w%+,\-.\/:=@]+$/v;

/** One argument, quoted only when a POSIX shell would otherwise read it differently. */
export const shellQuote = (argument: string): string =>
	safe.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`;

/** A whole command line. */
export const shellCommand = (argv: readonly string[]): string => argv.map((argument) => shellQuote(argument)).join(' ');

const piece = /(?<blank>\s+)|'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\.)*)"|\\(?<escaped>.)|(?<plain>[^\s"'\\]+)/gsvy;

/**
The words of a line as a POSIX shell would take them apart: quotes and backslashes are minded, and nothing is ever expanded.

@throws CanhazgpuError `usage` for a quote without its other half.
*/
export function shellWords(line: string): readonly string[] {
	const words: string[] = [];
	let word: string | undefined;
	let end = 0;
	for (const match of line.matchAll(piece)) {
		end = match.index + match[0].length;
		const {blank, single, double, escaped, plain} = match.groups!;
		if (blank === undefined) {
			word = (word ?? '') + (single ?? double?.replaceAll(/\\(?<sign>["$\\`])/gv, '$<sign>') ?? escaped ?? plain ?? '');
		} else if (word !== undefined) {
			words.push(word);
			word = undefined;
		}
	}

	if (end < line.length) {
		throw new CanhazgpuError('usage', `A quote or a backslash has no other half: ${cutShort(line.slice(end))}`);
	}

	return word === undefined ? words : [...words, word];
}
