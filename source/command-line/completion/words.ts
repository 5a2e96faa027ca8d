/**
What can stand in the place of the last word of a command: verbs, flags, and the values of flags. A shell's Tab and that of the monitor's
command line both ask here.
*/
import {idWordsOf} from '../../core/rules/request/gpu-ids.js';
import type {Command, Flag, Flags, KnownKind} from '../command.js';
import {commandPosition, flagOf} from '../flags.js';

export type Candidate = {
	readonly word: string;
	/** What it means, in a few words. */
	readonly about?: string;
};

type Completed =
	| {readonly kind: 'words'; readonly candidates: readonly Candidate[]}
	/** The name of a file: the shell knows best how to complete it. */
	| {readonly kind: 'files'}
	/** It belongs to the command that follows `--`. */
	| {readonly kind: 'command'};

type CompletionOptions = {
	/** Those that can be used here, but `help`. */
	readonly verbs: readonly string[];
	/** Words that stand in the place of a verb, and what may follow which one. */
	readonly names?: Readonly<Record<string, readonly string[]>>;
	readonly find: (verb: string) => Promise<Command>;
	/** Flags of every verb. */
	readonly globals: Flags;
	/** False where meanings are not shown: then the verbs need not be loaded. */
	readonly isDescribed: boolean;
	/** What the pool or the config knows. `words` are those of the line, but the verb and the flag that is being completed. */
	readonly know: (kind: KnownKind, verb: Command, words: readonly string[]) => Promise<readonly Candidate[]>;
};

const words = (candidates: readonly Candidate[]): Completed => ({kind: 'words', candidates});

const plain = (list: readonly string[]): readonly Candidate[] => list.map((word) => ({word}));

type Walk = {
	/** The names of those that were given. */
	readonly flags: ReadonlySet<string>;
	/** How many words were no flags, and no values of flags. */
	readonly others: number;
	/** The last word is a flag that wants a value. */
	readonly wanting: Flag | undefined;
};

/** What the words before are about. */
function walk(before: readonly string[], flags: Flags): Walk {
	const seen = new Set<string>();
	let others = 0;
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
			others++;
		}
	}

	return {flags: seen, others, wanting};
}

/** `1,` -> `1,0`, `1,2`, ..., and `0-2,` -> `0-2,3`, ...: what was not named yet. */
function listed(word: string, candidates: readonly Candidate[]): readonly Candidate[] {
	const named = word.split(',').slice(0, -1);
	const before = named.map((id) => `${id},`).join('');
	const ids = idWordsOf(named.join(','));
	return candidates
		.filter((candidate) => !ids.includes(candidate.word))
		.map((candidate) => ({...candidate, word: before + candidate.word}));
}

type Know = (kind: KnownKind) => Promise<readonly Candidate[]>;

async function valuesOf({completes, setting, value}: Flag, word: string, know: Know): Promise<Completed> {
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

	return words(plain(completes ?? []));
}

/** What stands behind `--flag` or `--flag=`; undefined where no value is due. */
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

/** The flags that were not given yet, or may be given again. */
const unused = (flags: Flags, seen: ReadonlySet<string>): readonly Candidate[] =>
	Object.entries(flags)
		.filter(([name, flag]) => flag.isMultiple === true || !seen.has(name))
		.map(([name, {summary}]) => ({word: `--${name}`, about: summary}));

const describedVerbs = async ({verbs, find, isDescribed}: CompletionOptions): Promise<readonly Candidate[]> =>
	Promise.all(verbs.map(async (verb) => ({word: verb, about: isDescribed ? (await find(verb)).summary : undefined})));

async function firstWords(before: readonly string[], word: string, options: CompletionOptions): Promise<Completed> {
	const {globals, names = {}} = options;
	const walked = walk(before, globals);
	const value = await valueDue(word, walked, globals, async () => []);
	return value !== undefined || word.startsWith('-')
		? (value ?? words(unused(globals, walked.flags)))
		: words([
				...(await describedVerbs(options)),
				...plain(Object.keys(names)),
				{word: 'help', about: 'Show what a verb does, or a topic'},
			]);
}

/** Verbs and topics; a name of both stands once. */
async function helpWords(options: CompletionOptions): Promise<readonly Candidate[]> {
	const {topics} = await import('../../help/topics.js');
	const others = Object.entries(topics).filter(([name]) => !options.verbs.includes(name));
	return [...(await describedVerbs(options)), ...others.map(([name, {summary}]) => ({word: name, about: summary}))];
}

/** Behind `help json`. */
async function schemaWords(after: readonly string[]): Promise<readonly Candidate[]> {
	if (after.length !== 1 || after[0] !== 'json') {
		return [];
	}

	const {schemas} = await import('../../help/schema/index.js');
	return plain(Object.keys(schemas));
}

type Position = {
	/** Words between the verb and the one that is being completed ... */
	readonly own: readonly string[];
	/** ... and before the verb. */
	readonly outer: readonly string[];
	readonly word: string;
};

async function verbWords(verb: Command, {own, outer, word}: Position, options: CompletionOptions): Promise<Completed> {
	const flags: Flags = {...verb.flags, ...options.globals};
	const walked = walk(own, flags);
	const others = [...outer, ...(walked.wanting === undefined ? own : own.slice(0, -1))];
	const value = await valueDue(word, walked, flags, async (kind) => options.know(kind, verb, others));
	if (value !== undefined) {
		return value;
	}

	const first = verb.words === undefined || walked.others > 0 ? [] : verb.words;
	// Flags of every verb are of little use: only where a flag was begun.
	const named = word.startsWith('-') ? flags : verb.flags;
	return words([
		...(typeof first === 'string' ? listed(word, await options.know(first, verb, others)) : plain(first)),
		...unused(named, walked.flags),
		...(verb.takesRest === true ? [{word: '--', about: 'the command follows'}] : []),
	]);
}

async function anyWords(before: readonly string[], word: string, options: CompletionOptions): Promise<Completed> {
	const {verbs, names = {}, find} = options;
	const separator = before.indexOf('--');
	const own = separator === -1 ? before : before.slice(0, separator);
	const index = commandPosition(own);
	const verb = own[index];
	if (verb === undefined) {
		return separator === -1 ? firstWords(before, word, options) : words([]);
	}

	const after = own.slice(index + 1);
	if (Object.hasOwn(names, verb)) {
		return words(plain(after.length === 0 ? names[verb]! : []));
	}

	if (verb === 'help') {
		return words(after.length === 0 ? await helpWords(options) : await schemaWords(after));
	}

	if (!verbs.includes(verb)) {
		return words([]);
	}

	const command = await find(verb);
	if (separator !== -1) {
		return command.takesRest === true ? {kind: 'command'} : words([]);
	}

	return verbWords(command, {own: after, outer: own.slice(0, index), word}, options);
}

/**
What can stand in the place of `word`, which may be empty or only begun.

@param before - All words before it, but the program.
*/
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
