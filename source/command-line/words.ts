/** Words before a parser sees them: what it would take for something else, and what no parser tells well. */
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

const namesWithValue = (flags: Flags): ReadonlySet<string> =>
	new Set(
		Object.entries(flags)
			.filter(([, {value}]) => value !== undefined)
			.flatMap(([name, {short}]) => [`--${name}`, `-${short ?? '-'}`]),
	);

/** What the Go program's flags take for yes and no: scripts may say `--json=true`. */
const truths: Readonly<Record<string, boolean>> = {true: true, t: true, '1': true, false: false, f: false, '0': false};

/**
Switches given a value, `--json=false`, as switches given or left out. A parser would take `--no-json` for one, too: here it is no flag.

@throws CanhazgpuError `usage` for another value.
*/
export const settleSwitches = (words: readonly string[], command: Command, flags: Flags): readonly string[] =>
	words.flatMap((word) => {
		const name = flagName(word);
		if (word.startsWith('--no-') && !Object.hasOwn(flags, name)) {
			throw unknownFlag(name, command.name, flags);
		}

		const [, value] = /^--[^=]+=(?<value>.*)$/sv.exec(word) ?? [];
		if (value === undefined || !Object.hasOwn(flags, name) || flags[name]!.value !== undefined) {
			return [word];
		}

		const truth = Object.hasOwn(truths, value.toLowerCase()) ? truths[value.toLowerCase()] : undefined;
		if (truth === undefined) {
			throw new CanhazgpuError('usage', `--${name} takes no value, and is given ${quoted(value)}`, {
				hint: `Write --${name} alone, or leave it out.`,
			});
		}

		return truth ? [`--${name}`] : [];
	});

/**
A command that is to be run, typed without `--` before it: its flags would be taken for ours.

@throws CanhazgpuError `usage` that shows what to type.
*/
export function refuseCommandWithoutDashes(words: readonly string[], command: Command, flags: Flags): void {
	const takesValue = namesWithValue(flags);
	const place = words.findIndex((word, index) => !word.startsWith('-') && !takesValue.has(words[index - 1] ?? ''));
	const isKnown = (word: string): boolean =>
		!word.startsWith('--') || Object.hasOwn(flags, flagName(word)) || takesValue.has(word);
	// A flag that is none of ours comes first: it is told first.
	if (place === -1 || words.slice(0, place).some((word) => !isKnown(word))) {
		return;
	}

	const typed = shellCommand([command.name, ...words.slice(0, place)]);
	throw new CanhazgpuError('usage', `${command.name} needs -- before the command ${quoted(words[place]!)}`, {
		hint: `Write: canhazgpu ${cutShort(typed)} -- ${cutShort(shellCommand(words.slice(place)))}`,
	});
}

/**
Words that parsers take for something else: `--no-color`, to them the negation of `--color`, is a switch of its own here, and the
value in `--duration -1h` is a value, to be refused by name, and no flag.
*/
export function unambiguous(words: readonly string[], flags: Flags): readonly string[] {
	const takesValue = namesWithValue(flags);
	return words.flatMap((word, place) => {
		if (/^-\d/v.test(word) && takesValue.has(words[place - 1] ?? '')) {
			return [];
		}

		const next = words[place + 1] ?? '';
		const joined = takesValue.has(word) && /^-\d/v.test(next) ? `${word}=${next}` : word;
		return [joined === '--no-color' ? '--noColor' : joined];
	});
}
