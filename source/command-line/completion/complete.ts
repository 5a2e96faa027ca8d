/** Answers completion requests of a shell. Prints nothing if there is an error or if the pool is slow. */
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {commandNames, findCommand} from '../find-command.js';
import type {Command, KnownKind} from '../command.js';
import {globalFlags} from '../flags.js';
import {findHome} from '../../config/home.js';
import {CanhazgpuError} from '../../errors.js';
import {completeWords, type Candidate} from './words.js';

const patienceMs = 1000;

async function known(kind: KnownKind, command: Command, words: readonly string[]): Promise<readonly Candidate[]> {
	const [{parseInput}, {loadConfig}, {candidatesOf, isAboutJobs}] = await Promise.all([
		import('../parse.js'),
		import('../../config/config.js'),
		import('./known-values.js'),
	]);
	// Flags that are already typed, such as --redis-host, decide which pool is read.
	const {overrides, text} = parseInput(command, {words, rest: []});
	// A config file in the current directory is ignored, because the user may press Tab in an untrusted directory.
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
		wantsJobs: isAboutJobs(kind),
		wantsReadings: kind === 'parts' || kind === 'mig-profiles',
	});
	const pool = await Promise.race([reading, sleep(patienceMs, undefined)]);
	return pool === undefined ? [] : candidatesOf(kind, {hosts, ...pool});
}

async function knownOrNothing(...asked: Parameters<typeof known>): Promise<readonly Candidate[]> {
	try {
		return await known(...asked);
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return [];
		}

		throw error;
	}
}

const expanded = (word: string): string => (word.startsWith('~/') ? `${findHome() ?? '~'}${word.slice(1)}` : word);

/**
Prints the kind of the answer on the first line: `words`, `files`, or `command` if the words after `--` belong to another program. Prints a candidate
on each further line, followed by a tab and its description.

@param argv - The name of the shell, and the words up to the cursor. The last word may be empty.
*/
export async function printCompletion([shell, ...words]: readonly string[]): Promise<void> {
	const word = words.at(-1) ?? '';
	const completed = await completeWords(
		words.slice(0, -1).map((each) => expanded(each)),
		word,
		{
			commands: commandNames,
			find: findCommand,
			globals: globalFlags,
			// Bash shows no descriptions.
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
