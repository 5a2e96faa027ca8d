/** Parses the words of a command with meow, by the command's own flags. */
import process from 'node:process';
import meow from 'meow';
import type {ConfigSources} from '../config/config.js';
import type {Command, Flags, Input} from './command.js';
import type {SplitLine} from './find-command.js';
import {globalFlags} from './flags.js';
import {spellForMeow} from './spelling.js';
import {missingCommand, missingDashes, missingValue, programName, runsNoCommand, strayWord} from './usage-errors.js';

/** `gpu-ids` -> `gpuIds`, as meow names a flag. */
const meowName = (name: string): string =>
	name.replaceAll(/-./gv, (dashAndLetter) => dashAndLetter.at(-1)!.toUpperCase());

/** Meow refuses a second value where a flag is not `isMultiple`. For us the last one counts, so that a shell's alias can be overridden. */
const meowFlags = (flags: Flags) =>
	Object.fromEntries(
		Object.entries(flags).map(([name, {value, shortFlag, aliases = []}]) => [
			meowName(name),
			{
				...(value === undefined ? {type: 'boolean' as const} : {type: 'string' as const, isMultiple: true as const}),
				...(shortFlag !== undefined && {shortFlag}),
				aliases: aliases.map((alias) => meowName(alias)),
			},
		]),
	);

function callMeow(argv: readonly string[], flags: Flags) {
	const {title} = process;
	// Meow names the process after a package. On Linux that overwrites the command line, by which `ps` shows whose job this is.
	Object.defineProperty(process, 'title', {get: () => title, set: () => undefined, configurable: true});
	return meow({
		importMeta: import.meta,
		pkg: {},
		argv,
		flags: meowFlags(flags),
		booleanDefault: undefined,
		// Ours say more.
		description: false,
		help: false,
		autoHelp: false,
		autoVersion: false,
	});
}

type ParsedInput = Omit<Input, 'config' | 'grammar'> & {readonly overrides: ConfigSources['flags']};

/** @throws CanhazgpuError `usage` for an unknown flag (with the nearest), a flag without its value, a stray word. */
export function parseInput(
	{name: command, flags: own, takesRest, takesWords}: Pick<Command, 'name' | 'flags' | 'takesRest' | 'takesWords'>,
	{words, rest}: Pick<SplitLine, 'words' | 'rest'>,
): ParsedInput {
	const flags: Flags = {...globalFlags, ...own};
	const argv = spellForMeow(words, {
		flags,
		command,
		onWord(index) {
			if (takesRest === true && rest === undefined) {
				throw missingDashes(command, words, index);
			}
		},
	});
	const {flags: parsed, input} = callMeow(argv, flags);
	const texts = (name: string): readonly string[] => [parsed[meowName(name)] ?? []].flat().map(String);
	const given = new Map(
		Object.entries(flags).flatMap(([name, flag]) => {
			const all = texts(name);
			return all.length === 0 ? [] : [[name, flag.isMultiple === true ? all.join(',') : all.at(-1)!] as const];
		}),
	);
	const empty = given.entries().find(([name, text]) => text === '' && flags[name]!.mayBeEmpty !== true);
	if (empty !== undefined) {
		throw missingValue(empty[0], flags[empty[0]]!);
	}

	if (input.length > 0 && takesWords !== true) {
		throw strayWord(command, input[0]!);
	}

	return {
		has: (name) => given.has(name) && (flags[name]!.value !== undefined || given.get(name) === 'true'),
		text: (name) => given.get(name),
		texts,
		words: input,
		rest,
		overrides: new Map(
			[...given].flatMap(([name, text]) => {
				const {setting} = flags[name]!;
				return setting === undefined ? [] : [[setting, {text, name: `--${name}`}] as const];
			}),
		),
	};
}

/** @throws CanhazgpuError `usage` where a command follows one that runs none. */
export function refuseRest(
	{name, takesRest}: Pick<Command, 'name' | 'takesRest'>,
	{rest = []}: Pick<SplitLine, 'rest'>,
) {
	if (rest.length > 0 && takesRest !== true) {
		throw runsNoCommand(name);
	}
}

/**
Returns what a line without a command asks for.

@throws CanhazgpuError `usage` for flags that mean nothing by themselves.
*/
export function askedAlone({words, rest}: Pick<SplitLine, 'words' | 'rest'>): 'help' | 'version' {
	const {has} = parseInput({name: programName, flags: {}, takesWords: true}, {words, rest});
	if (has('version')) {
		return 'version';
	}

	if (has('help') || (words.length === 0 && rest === undefined)) {
		return 'help';
	}

	throw missingCommand(words, rest);
}
