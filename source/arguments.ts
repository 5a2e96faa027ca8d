/**
From words on the command line to a verb and its input.
*/
import {closest, distance} from 'fastest-levenshtein';
import type {Command, Flags, Input} from './commands/command.js';
import {globalFlags} from './commands/flags.js';
import {commands} from './commands/index.js';
import type {ConfigSources} from './config.js';
import {CanhazgpuError} from './errors.js';

export type Split = {
	readonly verb: string | undefined;
	/** Everything before `--` but the verb. */
	readonly words: readonly string[];
	/** Everything after `--`. */
	readonly rest: readonly string[] | undefined;
};

/** Finds the verb: the first word that is neither a flag nor the value of a global one. */
export function splitArguments(argv: readonly string[]): Split {
	const separator = argv.indexOf('--');
	const before = separator === -1 ? argv : argv.slice(0, separator);
	const rest = separator === -1 ? undefined : argv.slice(separator + 1);
	let position = 0;
	while (position < before.length && before[position]!.startsWith('-')) {
		const flag = globalFlags[before[position]!.slice(2)];
		position += flag?.value === undefined ? 1 : 2;
	}

	return {verb: before[position], words: before.filter((_, index) => index !== position), rest};
}

/** In the order of the help. */
export const verbs: readonly string[] = Object.keys(commands);

/** A suggestion only where it is likely meant: few letters differ. */
const nearest = (word: string, words: readonly string[]): string | undefined => {
	const guess = closest(word, [...words]);
	return distance(word, guess) <= Math.max(2, Math.floor(word.length / 2)) ? guess : undefined;
};

/** @throws CanhazgpuError `usage` with the nearest verb. */
export async function findCommand(verb: string): Promise<Command> {
	const load = Object.hasOwn(commands, verb) ? commands[verb] : undefined;
	if (load === undefined) {
		const guess = nearest(verb, verbs);
		throw new CanhazgpuError('usage', `There is no verb ${JSON.stringify(verb)}`, {
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

/**
Words that parsers take for something else: `--no-color`, to them the negation of `--color`, is a switch of its own here, and the
value in `--duration -1h` is a value, to be refused by name, and no flag.
*/
function unambiguous(words: readonly string[], flags: Flags): readonly string[] {
	const takesValue = new Set(
		Object.entries(flags)
			.filter(([, {value}]) => value !== undefined)
			.flatMap(([name, {short}]) => [`--${name}`, `-${short ?? '-'}`]),
	);
	return words.flatMap((word, place) => {
		if (/^-\d/v.test(word) && takesValue.has(words[place - 1] ?? '')) {
			return [];
		}

		const next = words[place + 1] ?? '';
		const joined = takesValue.has(word) && /^-\d/v.test(next) ? `${word}=${next}` : word;
		return [joined === '--no-color' ? '--noColor' : joined];
	});
}

const camelCase = (name: string): string =>
	name.replaceAll(/-(?<letter>[a-z])/gv, (_, letter: string) => letter.toUpperCase());

const kebabCase = (name: string): string => name.replaceAll(/[A-Z]/gv, (letter) => `-${letter.toLowerCase()}`);

const unknownFlag = (name: string, command: Command, flags: Flags): CanhazgpuError => {
	const typed = `${name.length === 1 ? '-' : '--'}${name}`;
	const guess = nearest(name, Object.keys(flags));
	return new CanhazgpuError('usage', `${command.name} has no flag ${typed}`, {
		hint: guess === undefined ? `See its flags: canhazgpu ${command.name} --help` : `Did you mean --${guess}?`,
	});
};

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
export async function parseInput(command: Command, {words, rest}: Pick<Split, 'words' | 'rest'>): Promise<ParsedInput> {
	const flags: Flags = {...globalFlags, ...command.flags};
	const parsed = parseSwitches(words, flags) ?? (await parseWords(words, flags));
	const switches = new Set<string>();
	const texts = new Map<string, string>();
	for (const [key, given] of Object.entries(parsed.flags)) {
		const name = kebabCase(key);
		const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
		if (flag === undefined) {
			throw unknownFlag(name, command, flags);
		}

		if (flag.value === undefined) {
			if (given === true) {
				switches.add(name);
			}

			continue;
		}

		const values = given as readonly string[];
		if (values.length > 1) {
			throw new CanhazgpuError('usage', `--${name} is given twice: ${values.join(' and ')}`, {hint: 'Give it once.'});
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
		throw new CanhazgpuError(
			'usage',
			`${command.name} does not know what to do with ${JSON.stringify(parsed.input[0])}`,
			{
				hint: `See how it is typed: canhazgpu ${command.name} --help`,
			},
		);
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
