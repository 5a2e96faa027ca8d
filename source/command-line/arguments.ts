/**
From words on the command line to a verb and its input.
*/
import {commands} from '../commands/index.js';
import type {ConfigSources} from '../config/config.js';
import {CanhazgpuError, cutShort, quoted} from '../errors.js';
import {shellCommand} from '../format/text/shell.js';
import {globalFlags, verbPlace} from './flags.js';
import type {Command, Flags, Input} from './command.js';
import {flagName, refuseCommandWithoutDashes, settleSwitches, unambiguous, unknownFlag} from './words.js';
import {nearest, otherNameOf} from './suggestions.js';

export type Split = {
	readonly verb: string | undefined;
	/** Everything before `--` but the verb. */
	readonly words: readonly string[];
	/** Everything after `--`. */
	readonly rest: readonly string[] | undefined;
};

export function splitArguments(argv: readonly string[]): Split {
	const separator = argv.indexOf('--');
	const before = separator === -1 ? argv : argv.slice(0, separator);
	const rest = separator === -1 ? undefined : argv.slice(separator + 1);
	const position = verbPlace(before);
	return {verb: before[position], words: before.filter((_, index) => index !== position), rest};
}

/** In the order of the help. */
export const verbs: readonly string[] = Object.keys(commands);

/**
What is asked for where no verb is typed.

@throws CanhazgpuError `usage` for flags that mean nothing by themselves.
*/
export function askedAlone(words: readonly string[]): 'help' | 'version' {
	if (words.includes('--version')) {
		return 'version';
	}

	if (words.length === 0 || words.includes('--help') || words.includes('-h')) {
		return 'help';
	}

	const unknown = words.find((word) => word.startsWith('-') && !Object.hasOwn(globalFlags, flagName(word)));
	if (unknown !== undefined) {
		throw unknownFlag(flagName(unknown), 'canhazgpu', globalFlags);
	}

	throw new CanhazgpuError('usage', `Which verb? There is none in: ${cutShort(shellCommand(words))}`, {
		hint: 'For example: canhazgpu status. See all of them: canhazgpu --help',
	});
}

/** @throws CanhazgpuError `usage` with the nearest verb. */
export async function findCommand(verb: string): Promise<Command> {
	const load = Object.hasOwn(commands, verb) ? commands[verb] : undefined;
	if (load === undefined) {
		const guess = otherNameOf(verb) ?? nearest(verb, verbs);
		throw new CanhazgpuError('usage', `There is no verb ${quoted(verb)}`, {
			hint: guess === undefined ? 'See all of them: canhazgpu --help' : `Did you mean: canhazgpu ${guess}`,
		});
	}

	return load();
}

/** Meow's form of our flags. Values stay texts, and lists, so that a flag given twice can be told and named. */
const meowFlags = (flags: Flags) =>
	Object.fromEntries(
		Object.entries(flags).map(([name, {short, value}]) => [
			camelCase(name),
			value === undefined
				? {type: 'boolean' as const, shortFlag: short}
				: {type: 'string' as const, shortFlag: short, isMultiple: true as const},
		]),
	);

const camelCase = (name: string): string =>
	name.replaceAll(/-(?<letter>[a-z])/gv, (_, letter: string) => letter.toUpperCase());

const kebabCase = (name: string): string => name.replaceAll(/[A-Z]/gv, (letter) => `-${letter.toLowerCase()}`);

type Parsed = {readonly input: readonly string[]; readonly flags: Readonly<Record<string, unknown>>};

/** Switches by their whole names, and nothing else: most calls by far. It spares them a parser, which takes longer to load than to run. */
function parseSwitches(words: readonly string[], flags: Flags): Parsed | undefined {
	const names = words.map((word) => word.slice(2));
	const isPlain = words.every(
		(word, place) =>
			word.startsWith('--') && Object.hasOwn(flags, names[place]!) && flags[names[place]!]!.value === undefined,
	);
	return isPlain ? {input: [], flags: Object.fromEntries(names.map((name) => [camelCase(name), true]))} : undefined;
}

async function parseWords(words: readonly string[], flags: Flags): Promise<Parsed> {
	const {default: meow} = await import('meow');
	return meow({
		importMeta: import.meta,
		argv: unambiguous(words, flags),
		flags: meowFlags(flags),
		pkg: {name: 'canhazgpu'},
		description: false,
		autoHelp: false,
		autoVersion: false,
		allowUnknownFlags: true,
		inferType: false,
	});
}

export type ParsedInput = Omit<Input, 'config' | 'grammar'> & {readonly overrides: ConfigSources['flags']};

/**
@throws CanhazgpuError `usage` for an unknown flag (with the nearest), a flag without its value or given twice, a stray word.
*/
export async function parseInput(
	command: Command,
	{words: typed, rest}: Pick<Split, 'words' | 'rest'>,
): Promise<ParsedInput> {
	const flags: Flags = {...globalFlags, ...command.flags};
	const words = settleSwitches(typed, command, flags);
	if (command.takesRest === true && rest === undefined) {
		refuseCommandWithoutDashes(words, command, flags);
	}

	const parsed = parseSwitches(words, flags) ?? (await parseWords(words, flags));
	const switches = new Set<string>();
	const texts = new Map<string, string>();
	for (const [key, given] of Object.entries(parsed.flags)) {
		const name = kebabCase(key);
		const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
		if (flag === undefined) {
			throw unknownFlag(name, command.name, flags);
		}

		if (flag.value === undefined) {
			if (given === true) {
				switches.add(name);
			}

			continue;
		}

		const values = given as readonly string[];
		if (values.length > 1) {
			throw new CanhazgpuError(
				'usage',
				`--${name} is given twice: ${values.map((value) => cutShort(value)).join(' and ')}`,
				{hint: 'Give it once.'},
			);
		}

		const isTyped = words.some(
			(word) => word === `--${name}` || (flag.short !== undefined && word === `-${flag.short}`),
		);
		if (values[0] === '' || (values.length === 0 && isTyped)) {
			throw new CanhazgpuError('usage', `--${name} needs a value`, {hint: `Write --${name} ${flag.value}`});
		}

		if (values[0] !== undefined) {
			texts.set(name, values[0]);
		}
	}

	if (parsed.input.length > 0 && command.takesWords !== true) {
		throw new CanhazgpuError('usage', `${command.name} does not know what to do with ${quoted(parsed.input[0]!)}`, {
			hint: `See how it is typed: canhazgpu ${command.name} --help`,
		});
	}

	return {
		has: (name) => switches.has(name) || texts.has(name),
		text: (name) => texts.get(name),
		words: parsed.input,
		rest,
		overrides: new Map(
			[...texts].flatMap(([name, text]) => {
				const path = flags[name]?.setting;
				return path === undefined ? [] : [[path, {text, name: `--${name}`}] as const];
			}),
		),
	};
}
