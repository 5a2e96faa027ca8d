/** Completes the last word of a command line, for shells and for the command line of the monitor. */
import {idWordsOf} from '../../core/rules/request/gpu-ids.js';
import type {Command, Flag, Flags, KnownKind} from '../command.js';
import {commandPosition, flagOf} from '../flags.js';

export type Candidate = {
	readonly word: string;
	readonly about?: string;
};

type Completed =
	| {readonly kind: 'words'; readonly candidates: readonly Candidate[]}
	/** The word is a file name, which the shell completes. */
	| {readonly kind: 'files'}
	/** The word belongs to the other program's command line after `--`. */
	| {readonly kind: 'command'};

type CompletionOptions = {
	/** The commands that can be typed, except `help`. The monitor accepts only some commands. */
	readonly commands: readonly string[];
	/** Words that can be typed instead of a command, with the words that may follow each of them. */
	readonly names?: Readonly<Record<string, readonly string[]>>;
	readonly find: (name: string) => Promise<Command>;
	readonly globals: Flags;
	/** Whether candidates have descriptions. Without descriptions, the modules of the commands need not be loaded. */
	readonly isDescribed: boolean;
	/** Returns the values that only the pool or the configuration knows. `words` does not include the flag that is being completed. */
	readonly know: (kind: KnownKind, command: Command, words: readonly string[]) => Promise<readonly Candidate[]>;
};

const words = (candidates: readonly Candidate[]): Completed => ({kind: 'words', candidates});

const plain = (list: readonly string[]): readonly Candidate[] => list.map((word) => ({word}));

type Walk = {
	readonly flags: ReadonlySet<string>;
	/** The words that are neither flags nor values of flags. */
	readonly others: readonly string[];
	readonly wanting: Flag | undefined;
};

function walk(before: readonly string[], flags: Flags): Walk {
	const seen = new Set<string>();
	const others: string[] = [];
	let wanting: Flag | undefined;
	for (const word of before) {
		if (wanting !== undefined) {
			wanting = undefined;
			continue;
		}

		const flag = flagOf(word.split('=', 1)[0]!, flags);
		if (flag !== undefined) {
			seen.add(flag.name);
			wanting = flag.value === undefined || flag.bare !== undefined || word.includes('=') ? undefined : flag;
		} else if (!word.startsWith('-')) {
			others.push(word);
		}
	}

	return {flags: seen, others, wanting};
}

/** Completes a comma-separated list with values that are not in the list yet: `1,` becomes `1,0` or `1,2`, and `0-2,` becomes `0-2,3`. */
function listed(word: string, candidates: readonly Candidate[]): readonly Candidate[] {
	const named = word.split(',').slice(0, -1);
	const before = named.map((id) => `${id},`).join('');
	const ids = idWordsOf(named.join(','));
	return candidates
		.filter((candidate) => !ids.includes(candidate.word))
		.map((candidate) => ({...candidate, word: before + candidate.word}));
}

type Know = (kind: KnownKind) => Promise<readonly Candidate[]>;

async function valuesOf(
	{completes, completesAlso, setting, value}: Flag,
	word: string,
	know: Know,
): Promise<Completed> {
	if (completes === 'files') {
		return {kind: 'files'};
	}

	if (typeof completes === 'string') {
		const known = await know(completes);
		return words(value === 'IDS' ? listed(word, known) : known);
	}

	if (completes === undefined && setting !== undefined) {
		const {choicesOf} = await import('../../config/schema.js');
		return words(plain(choicesOf(setting)));
	}

	const more = completesAlso === undefined ? [] : await know(completesAlso);
	return words([...plain(completes ?? []), ...more]);
}

/** Completes the value after `--flag` or `--flag=`. Returns undefined if the word is not the value of a flag. */
async function valueDue(word: string, {wanting}: Walk, flags: Flags, know: Know): Promise<Completed | undefined> {
	if (wanting !== undefined) {
		return valuesOf(wanting, word, know);
	}

	const {name, text} = /^(?<name>--[^=]+)=(?<text>.*)$/sv.exec(word)?.groups ?? {};
	if (name === undefined || text === undefined) {
		return undefined;
	}

	const flag = flagOf(name, flags);
	const completed = flag?.value === undefined ? words([]) : await valuesOf(flag, text, know);
	return completed.kind === 'words'
		? words(completed.candidates.map((candidate) => ({...candidate, word: `${name}=${candidate.word}`})))
		: completed;
}

const unused = (flags: Flags, seen: ReadonlySet<string>): readonly Candidate[] =>
	Object.entries(flags)
		.filter(([name, flag]) => flag.isMultiple === true || !seen.has(name))
		.map(([name, {summary}]) => ({word: `--${name}`, about: summary}));

const describedCommands = async ({commands, find, isDescribed}: CompletionOptions): Promise<readonly Candidate[]> =>
	Promise.all(
		commands.map(async (name) => ({word: name, about: isDescribed ? (await find(name)).summary : undefined})),
	);

async function firstWords(before: readonly string[], word: string, options: CompletionOptions): Promise<Completed> {
	const {globals, names = {}} = options;
	const walked = walk(before, globals);
	const value = await valueDue(word, walked, globals, async () => []);
	return value !== undefined || word.startsWith('-')
		? (value ?? words(unused(globals, walked.flags)))
		: words([
				...(await describedCommands(options)),
				...plain(Object.keys(names)),
				{word: 'help', about: 'Show the help for a command or a topic'},
			]);
}

async function helpWords(options: CompletionOptions): Promise<readonly Candidate[]> {
	const {topics} = await import('../../help/topics.js');
	const others = Object.entries(topics).filter(([name]) => !options.commands.includes(name));
	return [...(await describedCommands(options)), ...others.map(([name, {summary}]) => ({word: name, about: summary}))];
}

async function schemaWords(after: readonly string[]): Promise<readonly Candidate[]> {
	if (after.length !== 1 || after[0] !== 'json') {
		return [];
	}

	const {schemas} = await import('../../help/schema/index.js');
	return plain(Object.keys(schemas));
}

type Position = {
	readonly own: readonly string[];
	readonly outer: readonly string[];
	readonly word: string;
};

async function commandWords(
	command: Command,
	{own, outer, word}: Position,
	options: CompletionOptions,
): Promise<Completed> {
	// The command's own flags come first. A global flag of the same name, such as --config, is not offered.
	const flags: Flags = {...command.flags, ...options.globals, ...command.flags};
	const walked = walk(own, flags);
	const others = [...outer, ...(walked.wanting === undefined ? own : own.slice(0, -1))];
	const value = await valueDue(word, walked, flags, async (kind) => options.know(kind, command, others));
	if (value !== undefined) {
		return value;
	}

	const mayFollow = walked.others.length === 0 || command.takesSeveralWords === true;
	const offered = command.words === undefined || !mayFollow ? [] : command.words;
	const candidates =
		typeof offered === 'string' ? listed(word, await options.know(offered, command, others)) : plain(offered);
	// Global flags are rarely useful, so they are offered only after a dash is typed.
	const named = word.startsWith('-') ? flags : command.flags;
	return words([
		...candidates.filter((candidate) => !walked.others.includes(candidate.word)),
		...unused(named, walked.flags),
		...(command.takesRest === true ? [{word: '--', about: 'the command to run comes next'}] : []),
	]);
}

async function anyWords(before: readonly string[], word: string, options: CompletionOptions): Promise<Completed> {
	const {commands, names = {}, find} = options;
	const separator = before.indexOf('--');
	const own = separator === -1 ? before : before.slice(0, separator);
	const index = commandPosition(own);
	const name = own[index];
	if (name === undefined) {
		return separator === -1 ? firstWords(before, word, options) : words([]);
	}

	const after = own.slice(index + 1);
	if (Object.hasOwn(names, name)) {
		return words(plain(after.length === 0 ? names[name]! : []));
	}

	if (name === 'help') {
		return words(after.length === 0 ? await helpWords(options) : await schemaWords(after));
	}

	if (!commands.includes(name)) {
		return words([]);
	}

	const command = await find(name);
	if (separator !== -1) {
		return command.takesRest === true ? {kind: 'command'} : words([]);
	}

	return commandWords(command, {own: after, outer: own.slice(0, index), word}, options);
}

/** Returns the candidates for `word`, which may be empty or incomplete. `before` has the earlier words, without the name of the program. */
export async function completeWords(
	before: readonly string[],
	word: string,
	options: CompletionOptions,
): Promise<Completed> {
	const completed = await anyWords(before, word, options);
	return completed.kind === 'words'
		? words(completed.candidates.filter((candidate) => candidate.word.startsWith(word)))
		: completed;
}
