import process from 'node:process';
import meow from 'meow';
import type {ConfigSources} from '../config/config.js';
import type {SettingPath} from '../config/schema.js';
import type {Command, Flags, Input} from './command.js';
import type {SplitLine} from './find-command.js';
import {globalFlags} from './flags.js';
import {spellForMeow} from './spelling.js';
import {missingDashes, missingValue, runsNoCommand, strayWord} from './usage-errors.js';

/** Returns the name of a flag in meow, the parser: `gpuIds` for `gpu-ids`. */
const meowName = (name: string): string =>
	name.replaceAll(/-./gv, (dashAndLetter) => dashAndLetter.at(-1)!.toUpperCase());

/** Returns the flags as meow expects them. Marks flags with a value as repeatable, because meow refuses a second value. The last value counts. */
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
	// Meow sets the process title, which on Linux would overwrite the command line that `ps` shows.
	Object.defineProperty(process, 'title', {get: () => title, set: () => undefined, configurable: true});
	return meow({
		importMeta: import.meta,
		pkg: {},
		argv,
		flags: meowFlags(flags),
		booleanDefault: undefined,
		description: false,
		help: false,
		autoHelp: false,
		autoVersion: false,
	});
}

type ParsedInput = Omit<Input, 'config' | 'grammar'> & {readonly overrides: ConfigSources['flags']};

/** Parses the words. Throws `usage` for an unknown flag (with the nearest flag), a missing value, or an unexpected word. */
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
	const given = new Map<string, string>();
	const overrides = new Map<SettingPath, {readonly text: string; readonly name: string}>();
	for (const [name, flag] of Object.entries(flags)) {
		const all = texts(name);
		const text = flag.isMultiple === true ? all.join(',') : all.at(-1);
		if (text === undefined || all.length === 0) {
			continue;
		}

		if (text === '' && flag.mayBeEmpty !== true) {
			throw missingValue(name, flag);
		}

		given.set(name, text);
		if (flag.setting !== undefined) {
			overrides.set(flag.setting, {text, name: `--${name}`});
		}
	}

	if (input.length > 0 && takesWords !== true) {
		throw strayWord(command, input[0]!);
	}

	const has = (name: string): boolean =>
		given.has(name) && (flags[name]!.value !== undefined || given.get(name) === 'true');
	if (takesRest !== true && rest !== undefined && rest.length > 0 && !has('help') && !has('version')) {
		throw runsNoCommand(command);
	}

	return {has, text: (name) => given.get(name), texts, words: input, rest, overrides};
}
