/** From words on the command line to a verb and its input. */
import {commands} from '../commands/index.js';
import type {ConfigSources} from '../config/config.js';
import {CanhazgpuError, cutShort, quoted} from '../errors.js';
import {shellCommand} from '../format/text/shell.js';
import {globalFlags, verbPosition} from './flags.js';
import type {Command, Flag, Flags, Input} from './command.js';
import {flagName, itemsOf, refuseCommandWithoutDashes, truthOf, unknownFlag, type Item} from './words.js';
import {nearest, otherNameOf} from './suggestions.js';

type Split = {
	readonly verb: string | undefined;
	/** A flag right before the verb that is none of every verb: then the verb may be meant as its value. */
	readonly misplaced: string | undefined;
	/** Everything before `--` but the verb. */
	readonly words: readonly string[];
	/** Everything after `--`. */
	readonly rest: readonly string[] | undefined;
};

export function splitArguments(argv: readonly string[]): Split {
	const separator = argv.indexOf('--');
	const before = separator === -1 ? argv : argv.slice(0, separator);
	const rest = separator === -1 ? undefined : argv.slice(separator + 1);
	const position = verbPosition(before);
	const last = before[position - 1];
	const isOfAll = last === undefined || Object.hasOwn(globalFlags, flagName(last)) || !last.startsWith('--');
	return {
		verb: before[position],
		misplaced: isOfAll ? undefined : last,
		words: before.filter((_, index) => index !== position),
		rest,
	};
}

/** In the order of the help. */
export const verbs: readonly string[] = Object.keys(commands);

/**
What is asked for where no verb is typed.

@throws CanhazgpuError `usage` for flags that mean nothing by themselves.
*/
export function askedAlone({words, rest}: Pick<Split, 'words' | 'rest'>): 'help' | 'version' {
	if (words.includes('--version') || words.includes('-v')) {
		return 'version';
	}

	if ((words.length === 0 && rest === undefined) || words.includes('--help') || words.includes('-h')) {
		return 'help';
	}

	const unknown = words.find((word) => word.startsWith('-') && !Object.hasOwn(globalFlags, flagName(word)));
	if (unknown !== undefined) {
		throw unknownFlag(unknown, 'canhazgpu', globalFlags);
	}

	const typed = shellCommand(rest === undefined ? words : [...words, '--', ...rest]);
	throw new CanhazgpuError('usage', `Which verb? There is none in: ${cutShort(typed)}`, {
		hint:
			rest === undefined || rest.length === 0
				? 'For example: canhazgpu status. See all of them: canhazgpu --help'
				: `To run a command: canhazgpu run ${cutShort(typed)}`,
	});
}

/**
@param misplaced - The flag that was typed right before it.
@throws CanhazgpuError `usage` with the nearest verb.
*/
export async function findCommand(verb: string, misplaced?: string): Promise<Command> {
	const load = Object.hasOwn(commands, verb) ? commands[verb] : undefined;
	if (load === undefined) {
		const guess = otherNameOf(verb) ?? nearest(verb, [...verbs, 'help']);
		throw new CanhazgpuError('usage', `There is no verb ${quoted(verb)}`, {
			hint:
				guess === undefined
					? misplaced === undefined
						? 'See all of them: canhazgpu --help'
						: `The flags of a verb stand behind it: canhazgpu VERB ${cutShort(shellCommand([misplaced, verb]))}`
					: `Did you mean: canhazgpu ${guess}`,
		});
	}

	return load();
}

/** The switches that are given, and whether each is on: `--json=false` after `--json` is off. */
const switchStates = (items: readonly Item[], flags: Flags): ReadonlyMap<string, boolean> =>
	new Map(
		items.flatMap((item) =>
			item.kind === 'flag' && flags[item.name]!.value === undefined
				? [[item.name, truthOf(item.name, item.value)] as const]
				: [],
		),
	);

/** All the values that each flag was given; none for one that lacks its value. */
function valuesOf(items: readonly Item[], flags: Flags): ReadonlyMap<string, readonly string[]> {
	const values = new Map<string, readonly string[]>();
	for (const item of items) {
		if (item.kind === 'flag' && flags[item.name]!.value !== undefined) {
			values.set(item.name, [...(values.get(item.name) ?? []), ...(item.value === undefined ? [] : [item.value])]);
		}
	}

	return values;
}

/**
A flag of one value that is given twice has its last value: an alias has the usual one, and what is typed behind it counts more.

@throws CanhazgpuError `usage` for a flag without its value.
*/
function textOf(name: string, flag: Flag, values: readonly string[]): string {
	const hasMany = flag.isList === true || flag.isRepeated === true;
	const text = (hasMany ? values : values.slice(-1)).join(',');
	if (values.length === 0 || (text === '' && flag.mayBeEmpty !== true)) {
		throw new CanhazgpuError('usage', `--${name} needs a value`, {hint: `Write --${name} ${flag.value}`});
	}

	return text;
}

export const strayWord = (verb: string, word: string): CanhazgpuError =>
	new CanhazgpuError('usage', `${verb} does not know what to do with ${quoted(word)}`, {
		hint: `See how it is typed: canhazgpu ${verb} --help`,
	});

/** @throws CanhazgpuError `usage` where a command follows a verb that runs none. */
export function refuseRest({name, takesRest}: Pick<Command, 'name' | 'takesRest'>, {rest = []}: Split): void {
	if (rest.length > 0 && takesRest !== true) {
		throw new CanhazgpuError('usage', `${name} runs no command, so nothing may follow --`, {
			hint: 'Leave it out. To run a command: canhazgpu run -- COMMAND',
		});
	}
}

type ParsedInput = Omit<Input, 'config' | 'grammar'> & {readonly overrides: ConfigSources['flags']};

/**
@throws CanhazgpuError `usage` for an unknown flag (with the nearest), a flag without its value, a stray word.
*/
export function parseInput(
	command: Pick<Command, 'name' | 'flags' | 'takesRest' | 'takesWords'>,
	{words: typed, rest}: Pick<Split, 'words' | 'rest'>,
): ParsedInput {
	const flags: Flags = {...globalFlags, ...command.flags};
	const items = itemsOf(typed, flags);
	if (command.takesRest === true && rest === undefined) {
		refuseCommandWithoutDashes(typed, items, command);
	}

	const unknown = items.find((item) => item.kind === 'unknown');
	if (unknown !== undefined) {
		throw unknownFlag(unknown.typed, command.name, flags);
	}

	const states = switchStates(items, flags);
	const input = items.flatMap((item) => (item.kind === 'word' ? [item.text] : []));
	const values = valuesOf(items, flags);
	const texts = new Map(Array.from(values, ([name, list]) => [name, textOf(name, flags[name]!, list)] as const));
	if (input.length > 0 && command.takesWords !== true) {
		throw strayWord(command.name, input[0]!);
	}

	const allTexts = new Map([...texts, ...Array.from(states, ([name, isOn]) => [name, String(isOn)] as const)]);
	return {
		has: (name) => states.get(name) === true || texts.has(name),
		text: (name) => allTexts.get(name),
		texts: (name) => values.get(name) ?? [],
		words: input,
		rest,
		overrides: new Map(
			[...allTexts].flatMap(([name, text]) => {
				const path = flags[name]?.setting;
				return path === undefined ? [] : [[path, {text, name: `--${name}`}] as const];
			}),
		),
	};
}
