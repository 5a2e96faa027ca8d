/** The words of a line as flags, values and words, and what is wrong with them. */
import {parseArgs, type ParseArgsConfig} from 'node:util';
import {CanhazgpuError, cutShort, quoted} from '../errors.js';
import {shellCommand} from '../format/text/shell.js';
import type {Command, Flags} from './command.js';
import {nearest, otherFlagOf} from './suggestions.js';

/** `--gpus=2` -> `gpus`, `-g` -> `g`. */
export const flagName = (word: string): string => word.replace(/^--?/v, '').split('=', 1)[0]!;

/**
@param typed - With its dashes; a value behind `=` is left out.
@param owner - The verb, or the program itself.
*/
export function unknownFlag(typed: string, owner: string, flags: Flags): CanhazgpuError {
	const name = flagName(typed);
	const guess = otherFlagOf(name, Object.keys(flags)) ?? nearest(name.replace(/^no-/v, ''), Object.keys(flags));
	const help = owner === 'canhazgpu' ? 'canhazgpu --help' : `canhazgpu ${owner} --help`;
	return new CanhazgpuError('usage', `${owner} has no flag ${cutShort(typed.split('=', 1)[0]!)}`, {
		hint: guess === undefined ? `See its flags: ${help}` : `Did you mean --${guess}?`,
	});
}

/** What the Go program's flags take for yes and no: scripts may say `--json=true`. */
const truths: ReadonlyMap<string, boolean> = new Map([
	...['true', 't', '1'].map((word) => [word, true] as const),
	...['false', 'f', '0'].map((word) => [word, false] as const),
]);

/** One flag or word of a line. */
export type Item =
	/** `value` is undefined for a switch, and for a flag that lacks its value. */
	| {readonly kind: 'flag'; readonly name: string; readonly value: string | undefined; readonly position: number}
	| {readonly kind: 'unknown'; readonly typed: string; readonly position: number}
	| {readonly kind: 'word'; readonly text: string; readonly position: number};

const nameOfShort = (letter: string, flags: Flags): string | undefined =>
	Object.entries(flags).find(([, {short}]) => short === letter)?.[0];

/** A word that is likely meant as the next flag and not as the value of the one before it: `--duration -1h` is refused by its name. */
const isFlagToo = (word: string, flags: Flags): boolean =>
	/^--[a-z]/v.test(word) || (/^-[A-Za-z]/v.test(word) && nameOfShort(word[1]!, flags) !== undefined);

/** The flags in the form of `parseArgs`. */
function optionsOf(flags: Flags): ParseArgsConfig['options'] {
	const options: ParseArgsConfig['options'] = {};
	for (const [name, {value, bare, short, otherNames = []}] of Object.entries(flags)) {
		const type = value === undefined || bare !== undefined ? 'boolean' : 'string';
		options[name] = short === undefined ? {type} : {type, short};
		for (const other of otherNames) {
			options[other] = {type};
		}
	}

	return options;
}

/** `gpu-memory` -> `min-memory`: the name by which a flag is known, for each way to spell it. */
const ownName = (name: string, flags: Flags): string =>
	Object.hasOwn(flags, name)
		? name
		: (Object.entries(flags).find(([, {otherNames = []}]) => otherNames.includes(name))?.[0] ?? name);

/** `-j=false` is `--json=false`; `parseArgs` knows that form for long names alone. */
function withLongSwitch(word: string, flags: Flags): string {
	const [, letter = '', value] = /^-(?<letter>[A-Za-z])=(?<value>.*)$/sv.exec(word) ?? [];
	const name = nameOfShort(letter, flags);
	return name === undefined || flags[name]!.value !== undefined ? word : `--${name}=${value}`;
}

/** The flags and words of a line, before `--`, in their order, read as cobra and getopt read them. */
export function itemsOf(words: readonly string[], flags: Flags, firstPosition = 0): readonly Item[] {
	const {tokens} = parseArgs({
		args: words.map((word) => withLongSwitch(word, flags)),
		options: optionsOf(flags),
		strict: false,
		allowPositionals: true,
		tokens: true,
	});
	const items: Item[] = [];
	for (const token of tokens) {
		const position = firstPosition + token.index;
		if (token.kind === 'positional') {
			items.push({kind: 'word', text: token.value, position});
			continue;
		}

		if (token.kind === 'option-terminator') {
			continue;
		}

		const {rawName, value, inlineValue, index} = token;
		const name = ownName(token.name, flags);
		if (!Object.hasOwn(flags, name) || (rawName.startsWith('--') && rawName !== `--${token.name}`)) {
			items.push({kind: 'unknown', typed: rawName, position});
			continue;
		}

		if (inlineValue !== true && value !== undefined && isFlagToo(value, flags)) {
			// It lacks its value: the words behind it are read for themselves.
			return [
				...items,
				{kind: 'flag', name, value: undefined, position},
				...itemsOf(words.slice(index + 1), flags, position + 1),
			];
		}

		// `-d=2h` is `-d2h`.
		const isShortWithSign = inlineValue === true && !rawName.startsWith('--') && value.startsWith('=');
		items.push({kind: 'flag', name, value: isShortWithSign ? value.slice(1) : (value ?? flags[name]!.bare), position});
	}

	return items;
}

/**
Whether a switch is on: `--json`, `--json=true`.

@throws CanhazgpuError `usage` for another value.
*/
export function truthOf(name: string, value: string | undefined): boolean {
	const truth = value === undefined ? true : truths.get(value.toLowerCase());
	if (truth === undefined) {
		throw new CanhazgpuError('usage', `--${name} takes no value, and is given ${quoted(value!)}`, {
			hint: `Write --${name} alone, or leave it out.`,
		});
	}

	return truth;
}

/**
A command that is to be run, typed without `--` before it: its flags would be taken for ours.

@throws CanhazgpuError `usage` that shows what to type.
*/
export function refuseCommandWithoutDashes(
	words: readonly string[],
	items: readonly Item[],
	{name}: Pick<Command, 'name'>,
): void {
	const first = items.find(({kind}) => kind !== 'flag');
	// A flag that is none of ours comes first: it is reported first.
	if (first?.kind !== 'word') {
		return;
	}

	const typed = shellCommand([name, ...words.slice(0, first.position)]);
	throw new CanhazgpuError('usage', `${name} needs -- before the command ${quoted(first.text)}`, {
		hint: `Write: canhazgpu ${cutShort(typed)} -- ${cutShort(shellCommand(words.slice(first.position)))}`,
	});
}
