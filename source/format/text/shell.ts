import {CanhazgpuError, cutShort} from '../../errors.js';

const safe = /^[\w%+,\-.\/:=@]+$/v;

/** Quotes an argument only if a POSIX shell would read it differently. */
export const shellQuote = (argument: string): string =>
	safe.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`;

export const shellCommand = (argv: readonly string[]): string => argv.map((argument) => shellQuote(argument)).join(' ');

const piece = /(?<blank>\s+)|'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\.)*)"|\\(?<escaped>.)|(?<plain>[^\s"'\\]+)/gsvy;

/** Splits a line like a POSIX shell, but expands nothing. Throws for an unclosed quote. */
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
		throw new CanhazgpuError(
			'usage',
			`A quote is not closed, or nothing follows a backslash: ${cutShort(line.slice(end))}`,
		);
	}

	return word === undefined ? words : [...words, word];
}
