import * as fc from 'fast-check';
import {expect, test} from 'vitest';
import {shellCommand, shellWords} from '../../../source/format/text/shell.js';

test('shellWords reads back what shellCommand writes', () => {
	fc.assert(
		fc.property(fc.array(fc.string({unit: 'binary'})), (words) => {
			expect(shellWords(shellCommand(words))).toEqual(words);
		}),
	);
});

test.each([
	[String.raw`reserve -g 2  --note "a \"b\" c"d`, ['reserve', '-g', '2', '--note', 'a "b" cd']],
	[String.raw`a\ b '' 'it'\''s' "\n"`, ['a b', '', "it's", String.raw`\n`]],
	['$(rm -rf ~) `x` $HOME *', ['$(rm', '-rf', '~)', '`x`', '$HOME', '*']],
	['  ', []],
])('shellWords splits %j into %j', (line, words) => {
	expect(shellWords(line)).toEqual(words);
});

test.each(["reserve --note 'half", 'reserve --note "half', 'reserve \\'])(
	'shellWords rejects the incomplete line %s',
	(line) => {
		expect(() => shellWords(line)).toThrow('A quote is not closed');
	},
);
