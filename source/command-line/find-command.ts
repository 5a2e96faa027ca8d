import {commands} from '../commands/index.js';
import {CanhazgpuError, cutShort, quoted} from '../errors.js';
import {shellCommand} from '../format/text/shell.js';
import type {Command} from './command.js';
import {commandPosition, flagOf, globalFlags} from './flags.js';
import {nearest, otherNameOf} from './suggestions.js';

export const commandNames: readonly string[] = Object.keys(commands);

export type SplitLine = {
	readonly name: string | undefined;
	/** A flag before the command's name that is not a global flag. If this flag takes a value, the user may have meant the name as that value. */
	readonly misplaced: string | undefined;
	readonly words: readonly string[];
	readonly rest: readonly string[] | undefined;
};

/** Splits a command line into the name of the command, the words to parse, and the words after `--`, which are not parsed. */
export function splitLine(argv: readonly string[]): SplitLine {
	const separator = argv.indexOf('--');
	const before = separator === -1 ? argv : argv.slice(0, separator);
	const position = commandPosition(before);
	const previous = before[position - 1];
	const isMisplaced =
		previous?.startsWith('--') === true && flagOf(previous.split('=', 1)[0]!, globalFlags) === undefined;
	return {
		name: before[position],
		misplaced: isMisplaced ? previous : undefined,
		words: before.toSpliced(position, 1),
		rest: separator === -1 ? undefined : argv.slice(separator + 1),
	};
}

export async function findCommand(name: string, misplaced?: string): Promise<Command> {
	const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
	if (load === undefined) {
		const guess = otherNameOf(name) ?? nearest(name.toLowerCase(), [...commandNames, 'help']);
		const whereFlagsStand =
			misplaced === undefined
				? 'See all of them: canhazgpu --help'
				: `Flags of a command go after its name: canhazgpu COMMAND ${cutShort(shellCommand([misplaced, name]))}`;
		throw new CanhazgpuError('usage', `Unknown command ${quoted(name)}`, {
			hint: guess === undefined ? whereFlagsStand : `Did you mean: canhazgpu ${guess}`,
		});
	}

	return load();
}
