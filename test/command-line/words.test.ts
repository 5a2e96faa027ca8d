import {parseArgs} from 'node:util';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {Flags} from '../../source/command-line/command.js';
import {tokensOf} from '../../source/command-line/words.js';

const flags: Flags = {
	gpus: {short: 'g', value: 'N', summary: ''},
	json: {short: 'j', summary: ''},
	quiet: {short: 'q', summary: ''},
	watch: {short: 'w', value: 'TIME', bare: '2s', summary: ''},
	'min-memory': {value: 'SIZE', otherNames: ['gpu-memory'], summary: ''},
};

/** As the library of Node is told of them. */
const options = {
	gpus: {type: 'string', short: 'g'},
	json: {type: 'boolean', short: 'j'},
	quiet: {type: 'boolean', short: 'q'},
	watch: {type: 'boolean', short: 'w'},
	'min-memory': {type: 'string'},
	'gpu-memory': {type: 'string'},
} as const;

const piece = fc.constantFrom(
	'-',
	'--',
	'g',
	'j',
	'q',
	'w',
	'x',
	'=',
	'2',
	'gpus',
	'json',
	'gpu-memory',
	'nothing',
	'é',
	' ',
);
const word = fc.array(piece, {maxLength: 5}).map((pieces) => pieces.join(''));

test('words are taken apart as parseArgs of Node does', () => {
	fc.assert(
		fc.property(fc.array(word, {maxLength: 6}), (words) => {
			// Two dashes end the flags, and never come as far; the library sees them in `-j-` and `--==`, too.
			fc.pre(words.every((each) => each !== '--' && !/^-[^\-].*-|^--=/v.test(each)));
			const {tokens} = parseArgs({args: words, options, strict: false, allowPositionals: true, tokens: true});
			const expected = tokens.map((token) =>
				token.kind === 'option'
					? {
							kind: token.kind,
							index: token.index,
							name: token.name,
							rawName: token.rawName,
							value: token.value,
							isInline: token.inlineValue === true,
						}
					: token,
			);
			expect(tokensOf(words, flags)).toEqual(expected);
		}),
		{numRuns: 5000},
	);
});
