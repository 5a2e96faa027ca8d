import {CanhazgpuError, cutShort, quoted} from '../errors.js';
import {shellCommand} from '../format/text/shell.js';
import type {Flag, Flags} from './command.js';
import {nearest, otherFlagOf} from './suggestions.js';

const helpOf = (command: string): string =>
	command === 'canhazgpu' ? 'canhazgpu --help' : `canhazgpu ${command} --help`;

/** Returns the error for an unknown flag. `typed` has its dashes. `command` is `canhazgpu` if the flag was typed without a command. */
export function unknownFlag(typed: string, command: string, flags: Flags): CanhazgpuError {
	const name = typed.replace(/^--?/v, '');
	const guess = otherFlagOf(name, Object.keys(flags)) ?? nearest(name.replace(/^no-/v, ''), Object.keys(flags));
	return new CanhazgpuError('usage', `${command} has no flag ${cutShort(typed)}`, {
		hint: guess === undefined ? `See its flags: ${helpOf(command)}` : `Did you mean --${guess}?`,
	});
}

export const missingValue = (name: string, {value}: Flag): CanhazgpuError =>
	new CanhazgpuError('usage', `--${name} needs a value`, {hint: `Write --${name} ${value}`});

export const switchWithValue = (name: string, value: string): CanhazgpuError =>
	new CanhazgpuError('usage', `--${name} takes no value, but was given ${quoted(value)}`, {
		hint: `Write --${name} alone, or leave it out.`,
	});

export const strayWord = (command: string, word: string): CanhazgpuError =>
	new CanhazgpuError('usage', `${command} does not take the argument ${quoted(word)}`, {
		hint: `See its usage: ${helpOf(command)}`,
	});

/** Returns the error for a missing `--` before the command to run. `position` is the index of the first word of that command. */
export const missingDashes = (command: string, words: readonly string[], position: number): CanhazgpuError => {
	const typed = shellCommand([command, ...words.slice(0, position)]);
	return new CanhazgpuError('usage', `${command} needs -- before the command ${quoted(words[position]!)}`, {
		hint: `Write: canhazgpu ${cutShort(typed)} -- ${cutShort(shellCommand(words.slice(position)))}`,
	});
};

export const runsNoCommand = (command: string): CanhazgpuError =>
	new CanhazgpuError('usage', `${command} does not run a command, so it cannot be followed by --`, {
		hint: 'Leave out -- and the words after it. To run a program on GPUs: canhazgpu run -- COMMAND',
	});

export function missingCommand(words: readonly string[], rest: readonly string[] | undefined): CanhazgpuError {
	const typed = cutShort(shellCommand(rest === undefined ? words : [...words, '--', ...rest]));
	return new CanhazgpuError('usage', `There is no canhazgpu command in: ${typed}`, {
		hint:
			rest === undefined || rest.length === 0
				? 'For example: canhazgpu status. See all of them: canhazgpu --help'
				: `To run a program on GPUs: canhazgpu run ${typed}`,
	});
}
