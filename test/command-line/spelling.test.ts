/** Tests every flag of every command in every spelling that cobra and getopt accept. */
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {Flag} from '../../source/command-line/command.js';
import {commandNames, findCommand} from '../../source/command-line/find-command.js';
import {globalFlags} from '../../source/command-line/flags.js';
import {parseInput} from '../../source/command-line/parse.js';
import {spellForMeow} from '../../source/command-line/spelling.js';

const commands = await Promise.all(commandNames.map(async (name) => findCommand(name)));

const flags = {
	gpus: {shortFlag: 'g', value: 'N', summary: ''},
	note: {shortFlag: 'n', value: 'TEXT', summary: ''},
	force: {shortFlag: 'f', summary: ''},
	isolate: {value: 'WAY', bare: 'auto', summary: ''},
};

const spelled = (...words: readonly string[]): readonly string[] =>
	spellForMeow(words, {flags, command: 'run', onWord: () => undefined});

describe('spellForMeow', () => {
	test.each<[typed: readonly string[], spelled: readonly string[]]>([
		[['--gpus', '2'], ['--gpus="2"']],
		[['--gpus=2'], ['--gpus="2"']],
		[['-g2'], ['-g="2"']],
		[['-g=2'], ['-g="2"']],
		[
			['-fg', '2', 'word'],
			['-f=true', '-g="2"', 'word'],
		],
		[['-fnote'], ['-f=true', '-n="ote"']],
		[['--note', '-5 %'], ['--note="-5 %"']],
		[['-n', ''], ['-n=""']],
		[['--force=F'], ['--force=false']],
		[
			['--force', 'true'],
			['--force=true', 'true'],
		],
		[
			['--isolate', 'word'],
			['--isolate="auto"', 'word'],
		],
		[['--isolate=off'], ['--isolate="off"']],
		[['-'], ['-']],
	])('rewrites %j as %j', (typed, expected) => {
		expect(spelled(...typed)).toEqual(expected);
	});

	test.each<[typed: readonly string[], error: string]>([
		[['--note'], '--note needs a value'],
		[['--note', '--force'], '--note needs a value'],
		[['-n', '-f'], '--note needs a value'],
		[['--force=yes'], '--force takes no value, but was given "yes"'],
		[['--Gpus=2'], 'run has no flag --Gpus'],
		[['--no-force'], 'run has no flag --no-force'],
		[['-f-note'], 'run has no flag --'],
		[['-😀'], 'run has no flag -😀'],
		[['--__proto__=1'], 'run has no flag --__proto__'],
	])('rejects %j: %s', (typed, error) => {
		expect(() => spelled(...typed)).toThrow(error);
	});
});

/** Returns every way to write a flag with a value. A value after a blank must not look like a flag. */
function waysToGive(name: string, {shortFlag, bare}: Flag, value: string): ReadonlyArray<readonly string[]> {
	const isOwnWord = bare === undefined && !/^--?[A-Za-z]/v.test(value);
	return [
		[`--${name}=${value}`],
		...(isOwnWord ? [[`--${name}`, value]] : []),
		...(shortFlag === undefined ? [] : [[`-${shortFlag}=${value}`]]),
		...(shortFlag === undefined || value === '' || value.startsWith('=') ? [] : [[`-${shortFlag}${value}`]]),
		...(shortFlag === undefined || !isOwnWord ? [] : [[`-${shortFlag}`, value]]),
	];
}

/** Values that a parser could change by mistake: numbers, quotes, dashes, booleans, line breaks. */
const values = fc.oneof(
	fc.constantFrom(
		'007',
		'1e3',
		'-5',
		'0x10',
		'"a"',
		"'a'",
		'"',
		'-',
		'---',
		'true',
		'false',
		'null',
		'__proto__',
		'a=b',
		'=',
	),
	fc.string({minLength: 1, unit: 'binary'}),
	fc.constantFrom('two\nlines', '\n', ' ', '--'),
);

test.each(commands)('spellForMeow for the command $name keeps each flag value unchanged', (command) => {
	const all = Object.entries({...globalFlags, ...command.flags});
	const valued = all.filter(([, {value}]) => value !== undefined);
	const given = fc.tuple(fc.constantFrom(...valued), values, fc.nat());
	fc.assert(
		fc.property(fc.array(given, {minLength: 1, maxLength: 5}), (list) => {
			const words = list.flatMap(([[name, flag], value, way]) => {
				const ways = waysToGive(name, flag, value);
				return ways[way % ways.length]!;
			});
			const input = parseInput({...command, takesRest: false}, {words, rest: undefined});
			for (const [name, {isMultiple}] of valued) {
				const texts = list.filter(([[typed]]) => typed === name).map(([, value]) => value);
				expect([name, input.texts(name)]).toEqual([name, texts]);
				expect(input.text(name)).toBe(isMultiple === true && texts.length > 0 ? texts.join(',') : texts.at(-1));
			}

			expect(input.words).toEqual([]);
		}),
	);
});

test.each(commands)('spellForMeow for the command $name uses the last value of a repeated switch', (command) => {
	const switches = Object.entries({...globalFlags, ...command.flags}).filter(([, {value}]) => value === undefined);
	const given = fc.tuple(fc.constantFrom(...switches), fc.constantFrom('', '=true', '=t', '=1', '=false', '=F', '=0'));
	fc.assert(
		fc.property(fc.array(given, {minLength: 1, maxLength: 4}), (list) => {
			const words = list.map(([[name, {shortFlag}], state], index) =>
				index % 2 === 0 || shortFlag === undefined ? `--${name}${state}` : `-${shortFlag}${state}`,
			);
			const {has} = parseInput({...command, takesRest: false}, {words, rest: undefined});
			for (const [name] of switches) {
				const last = list.findLast(([[typed]]) => typed === name)?.[1];
				expect([name, has(name)]).toEqual([name, last !== undefined && /^$|t|1/v.test(last)]);
			}
		}),
	);
});
