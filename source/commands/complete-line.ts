/** What can stand in the place of the last word of a command: verbs, flags, GPU ids, durations. */
import type {Completion} from '../tui/ports.js';
import type {Command, Flag} from './command.js';

const durations = ['30m', '1h', '2h', '4h', '8h', '12h', '1d', '2d'];

type Options = {
	/** Those that can be used here. */
	readonly verbs: readonly string[];
	/** Words that stand in the place of a verb, and the names of which one may follow it. */
	readonly names: Readonly<Record<string, readonly string[]>>;
	readonly find: (verb: string) => Promise<Command>;
	readonly gpuCount: number;
};

const flagOf = ({flags}: Command, word: string): Flag | undefined =>
	Object.entries(flags).find(([name, {short}]) => word === `--${name}` || word === `-${short ?? '-'}`)?.[1];

/** `1,` -> `1,0`, `1,2`, ...: what was not named yet. */
function idsAfter(word: string, gpuCount: number): readonly string[] {
	const named = word.split(',').slice(0, -1);
	const before = named.map((id) => `${id},`).join('');
	return Array.from({length: gpuCount}, (_, id) => String(id))
		.filter((id) => !named.includes(id))
		.map((id) => before + id);
}

function valuesOf({value}: Flag, word: string, gpuCount: number): readonly string[] {
	if (value === 'IDS') {
		return idsAfter(word, gpuCount);
	}

	return value === 'TIME' ? durations : [];
}

async function wordsFor(before: readonly string[], word: string, options: Options): Promise<readonly string[]> {
	const [verb] = before;
	if (verb === undefined) {
		return [...options.verbs, ...Object.keys(options.names)];
	}

	if (Object.hasOwn(options.names, verb)) {
		return before.length === 1 ? options.names[verb]! : [];
	}

	if (verb === 'help' && before.length === 1) {
		return options.verbs;
	}

	if (!options.verbs.includes(verb) || verb === 'help') {
		return [];
	}

	const command = await options.find(verb);
	const flag = flagOf(command, before.at(-1)!);
	if (flag?.value !== undefined) {
		return valuesOf(flag, word, options.gpuCount);
	}

	return Object.keys(command.flags)
		.map((name) => `--${name}`)
		.filter((name) => !before.includes(name));
}

/** @param line - Up to the caret. */
export async function completeLine(line: string, options: Options): Promise<Completion> {
	const start = line.search(/(?<!\S)\S*$/v);
	const word = line.slice(start);
	const before = line.slice(0, start).split(/\s+/v).filter(Boolean);
	const candidates = await wordsFor(before, word, options);
	return {start, candidates: candidates.filter((candidate) => candidate.startsWith(word))};
}
