/** Words before the parser sees them: spelt out, so that it reads them as cobra and getopt do, and what no parser tells well. */
import {CanhazgpuError, cutShort, quoted} from '../errors.js';
import {shellCommand} from '../format/text/shell.js';
import type {Command, Flags} from './command.js';
import {nearest} from './suggestions.js';

/** `--gpus=2` -> `gpus`, `-g` -> `g`. */
export const flagName = (word: string): string => word.replace(/^--?/v, '').split('=', 1)[0]!;

/** @param owner - The verb, or the program itself. */
export function unknownFlag(name: string, owner: string, flags: Flags): CanhazgpuError {
	const typed = `${name.length === 1 ? '-' : '--'}${cutShort(name)}`;
	const guess = nearest(name, Object.keys(flags));
	const help = owner === 'canhazgpu' ? 'canhazgpu --help' : `canhazgpu ${owner} --help`;
	return new CanhazgpuError('usage', `${owner} has no flag ${typed}`, {
		hint: guess === undefined ? `See its flags: ${help}` : `Did you mean --${guess}?`,
	});
}

/** What the Go program's flags take for yes and no: scripts may say `--json=true`. */
const truths: Readonly<Record<string, boolean>> = {true: true, t: true, '1': true, false: false, f: false, '0': false};

/** One flag or word of a line, in the form that any parser takes as it is meant. */
export type Item =
	/** `value` is undefined for a switch, and for a flag that lacks its value. */
	| {readonly kind: 'flag'; readonly name: string; readonly value: string | undefined; readonly place: number}
	| {readonly kind: 'unknown'; readonly typed: string; readonly place: number}
	| {readonly kind: 'word'; readonly text: string; readonly place: number};

const nameOfShort = (letter: string, flags: Flags): string | undefined =>
	Object.entries(flags).find(([, {short}]) => short === letter)?.[0];

/** A word that is likely meant as the next flag and not as the value of the one before it. */
const isFlagToo = (word: string, flags: Flags): boolean =>
	/^--[a-z]/v.test(word) || (/^-[A-Za-z]/v.test(word) && nameOfShort(word[1]!, flags) !== undefined);

/**
`-fd2h` -> `f`, then `d` with the rest as its value, as cobra and getopt read it.

@yields Each flag, up to the first that there is not.
*/
function* shortItems(word: string, place: number, flags: Flags): Generator<Item> {
	for (let at = 1; at < word.length; at++) {
		const letter = word[at]!;
		const name = nameOfShort(letter, flags);
		if (name === undefined) {
			yield {kind: 'unknown', typed: `-${letter}`, place};
			return;
		}

		const rest = word.slice(at + 1);
		const isSwitch = flags[name]!.value === undefined;
		if (rest.startsWith('=') || (!isSwitch && rest !== '')) {
			yield {kind: 'flag', name, value: rest.replace(/^=/v, ''), place};
			return;
		}

		yield {kind: 'flag', name, value: undefined, place};
	}
}

function longItem(word: string, place: number, flags: Flags): Item {
	const {name, value} = /^--(?<name>[^=]*)(?:=(?<value>.*))?$/sv.exec(word)!.groups as {name: string; value?: string};
	return Object.hasOwn(flags, name) ? {kind: 'flag', name, value, place} : {kind: 'unknown', typed: word, place};
}

/** The flags and words of a line, before `--`, in their order. */
export function itemsOf(words: readonly string[], flags: Flags): readonly Item[] {
	const items: Item[] = [];
	for (let place = 0; place < words.length; place++) {
		const word = words[place]!;
		if (!word.startsWith('-') || word === '-') {
			items.push({kind: 'word', text: word, place});
			continue;
		}

		items.push(...(word.startsWith('--') ? [longItem(word, place, flags)] : shortItems(word, place, flags)));
		const last = items.at(-1)!;
		const next = words[place + 1];
		// The last flag of a word takes the next word, which may well begin with a dash: `--duration -1h` is refused by its name.
		if (
			!(last.kind === 'flag' && last.value === undefined) ||
			flags[last.name]!.value === undefined ||
			next === undefined ||
			isFlagToo(next, flags)
		) {
			continue;
		}

		items[items.length - 1] = {...last, value: next};
		place++;
	}

	return items;
}

/**
Whether a switch is on: `--json`, `--json=true`.

@throws CanhazgpuError `usage` for another value.
*/
export function truthOf(name: string, value: string | undefined): boolean {
	const truth = value === undefined ? true : truths[value.toLowerCase()];
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
	// A flag that is none of ours comes first: it is told first.
	if (first?.kind !== 'word') {
		return;
	}

	const typed = shellCommand([name, ...words.slice(0, first.place)]);
	throw new CanhazgpuError('usage', `${name} needs -- before the command ${quoted(first.text)}`, {
		hint: `Write: canhazgpu ${cutShort(typed)} -- ${cutShort(shellCommand(words.slice(first.place)))}`,
	});
}
