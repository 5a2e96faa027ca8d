/** Answers a shell that asks what can stand at the caret: soon and without a word of complaint, or not at all. */
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {commandNames, findCommand} from '../find-command.js';
import type {Command, KnownKind} from '../command.js';
import {globalFlags} from '../flags.js';
import {findHome} from '../../config/home.js';
import {CanhazgpuError} from '../../errors.js';
import {completeWords, type Candidate} from './words.js';

/** Tab waits no longer than this for a store that is away. */
const patienceMs = 1000;

async function known(kind: KnownKind, verb: Command, words: readonly string[]): Promise<readonly Candidate[]> {
	const [{parseInput}, {loadConfig}, {candidatesOf}] = await Promise.all([
		import('../parse.js'),
		import('../../config/config.js'),
		import('./known-values.js'),
	]);
	// The very pool that the line is about.
	const {overrides, text} = parseInput(verb, {words, rest: []});
	// Tab is pressed in any directory, before anything was decided about what lies there.
	const config = await loadConfig({
		flags: overrides,
		environment: process.env,
		file: text('config'),
		readsDirectory: false,
		readsStreams: false,
	});
	const hosts = config.get('remote_hosts')!;
	if (kind === 'hosts') {
		return candidatesOf(kind, {hosts, audit: [], requester: {account: '', uid: -1, label: ''}});
	}

	const {readPool} = await import('../../app/complete.js');
	const reading = readPool(config, {
		wantsEvents: kind === 'users' || kind === 'labels',
		wantsReadings: kind === 'parts' || kind === 'mig-profiles',
	});
	const pool = await Promise.race([reading, sleep(patienceMs, undefined)]);
	return pool === undefined ? [] : candidatesOf(kind, {hosts, ...pool});
}

async function knownOrNothing(...asked: Parameters<typeof known>): Promise<readonly Candidate[]> {
	try {
		return await known(...asked);
	} catch (error) {
		// No pool, a line that is wrong already: then there is nothing to offer.
		if (error instanceof CanhazgpuError) {
			return [];
		}

		throw error;
	}
}

/** What the shell would have made of it. */
const expanded = (word: string): string => (word.startsWith('~/') ? `${findHome() ?? '~'}${word.slice(1)}` : word);

/**
Prints in the first line what can stand there, `words`, `files` or `command` (what follows `--` is another program's); then the words, each
with a tab and what it means.

@param argv - The shell, and the words up to the caret, the last of which may be empty.
*/
export async function printCompletion([shell, ...words]: readonly string[]): Promise<void> {
	const word = words.at(-1) ?? '';
	const completed = await completeWords(
		words.slice(0, -1).map((each) => expanded(each)),
		word,
		{
			verbs: commandNames,
			find: findCommand,
			globals: globalFlags,
			// Bash shows words alone.
			isDescribed: shell !== 'bash',
			know: knownOrNothing,
		},
	);
	const lines = completed.kind === 'words' ? completed.candidates : [];
	const shown = lines.map(({word: candidate, about}) =>
		shell === 'bash' ? candidate : `${candidate}\t${about ?? ''}`,
	);
	process.stdout.write(`${[completed.kind, ...shown].join('\n')}\n`);
}
