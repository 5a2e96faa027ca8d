import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, readFileSync, realpathSync, renameSync, writeFileSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {onTestFinished, vi} from 'vitest';
import type {Liveness, ProcessIdentity} from '../../../source/core/model/types.js';
import type {JobEnd} from '../../../source/host/job/job.js';
import {liveness} from '../../../source/host/process/processes.js';
import {patienceMs} from '../../_helpers/eventually.js';
import {createFiles, createFilesIn} from '../temporary.js';
import {openTerminal} from './_terminal.js';

/** An event that the driver or the counter reports. */
type Report = {
	readonly event: 'started' | 'timeout' | 'ended' | 'released' | 'exit' | 'refused';
	readonly wrapper?: number;
	readonly job?: ProcessIdentity;
	readonly end?: JobEnd;
	readonly exitCode?: number;
	readonly listening?: readonly string[];
	readonly children?: string;
	readonly code?: string;
	readonly message?: string;
	readonly hint?: string;
};

const source = async (entry: string): Promise<string> => {
	const {outputFiles} = await build({
		entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
		bundle: true,
		platform: 'node',
		format: 'esm',
		write: false,
	});
	return outputFiles[0]?.text ?? '';
};

const driver = source('_driver.ts');

/** A job that writes each received signal to a file and runs until the file `stop` contains its exit code. */
const counter = String.raw`#!/usr/bin/env node
import {appendFileSync, existsSync, readFileSync} from 'node:fs';
const say = (word) => appendFileSync(process.env.SIGNALS, word + '\n');
for (const name of ['INT', 'QUIT', 'TERM', 'HUP', 'USR1', 'USR2', 'WINCH', 'CONT']) process.on('SIG' + name, () => say(name));
process.stdout.on('error', () => {});
say('ready');
console.log('counting');
setInterval(() => {
	if (existsSync(process.env.STOP)) process.exit(Number(readFileSync(process.env.STOP, 'utf8')));
}, 10);
`;

const chg = `#!/usr/bin/env node
import './driver.mjs';
`;

const readLines = (file: string): readonly string[] =>
	existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];

/** Creates a directory that contains the driver as the command `chg`, the `counter`, and the given files. */
export const createStage = async (files: Readonly<Record<string, string>> = {}) => {
	const directory = realpathSync(await createFiles({chg, 'driver.mjs': await driver, 'counter.mjs': counter}));
	await createFilesIn(directory, files);
	const in_ = (name: string) => path.join(directory, name);
	const environment: Readonly<Record<string, string>> = {
		PATH: [directory, path.dirname(process.execPath), process.env['PATH']].join(':'),
		HOME: directory,
		TERM: 'dumb',
		LC_ALL: 'C.UTF-8',
		...(process.env['STAND_IN'] !== undefined && {STAND_IN: process.env['STAND_IN']}),
		...(process.env['FENCE'] !== undefined && {FENCE: process.env['FENCE']}),
		REPORT: in_('report'),
		SIGNALS: in_('signals'),
		STOP: in_('stop'),
		RELEASE: in_('release'),
	};
	const spawnHere = (command: string, words: readonly string[], more: Readonly<Record<string, string>>) =>
		spawn(command === 'chg' ? in_('chg') : command, words, {
			cwd: directory,
			env: {...environment, ...more},
			stdio: ['ignore', 'pipe', 'pipe'],
			detached: true,
		});
	const reports = () => readLines(in_('report')).map((line) => JSON.parse(line) as Report);
	const when = async (event: Report['event']): Promise<Report> =>
		vi.waitFor(
			() => {
				const found = reports().find((report) => report.event === event);
				if (found === undefined) {
					throw new Error(`No ${event} in ${JSON.stringify(reports())}`);
				}

				return found;
			},
			{timeout: patienceMs, interval: 10},
		);
	const signals = () => readLines(in_('signals'));

	onTestFinished(async () => {
		// Kills processes that a failed test has left. Their identities are checked first.
		for (const {wrapper, job} of reports()) {
			for (const identity of [job, wrapper === undefined ? undefined : {pid: wrapper}]) {
				if (identity !== undefined && liveness([identity])[0] !== 'dead' && reports().at(-1)?.event !== 'exit') {
					process.kill(identity.pid, 'SIGKILL');
				}
			}
		}

		await rm(directory, {recursive: true, force: true});
	});

	return {
		directory,
		environment,
		reports,
		when,
		/** Lets the driver finish the release. It waits for this if HELD is set. */
		release() {
			writeFileSync(in_('release'), '');
		},
		/** The lines of one of the files. */
		lines: (name: string) => readLines(in_(name)),
		/** The signals that the counter received. */
		signals,
		/** Waits until the job runs, and returns the wrapper and the job. */
		async started(): Promise<{wrapper: number; job: ProcessIdentity}> {
			const {wrapper, job} = await when('started');
			return {wrapper: wrapper ?? 0, job: job ?? {pid: 0}};
		},
		async counted(...expected: readonly string[]) {
			await vi.waitFor(
				() => {
					if (signals().join(' ') !== ['ready', ...expected].join(' ')) {
						throw new Error(`The job was sent: ${signals().join(' ')}`);
					}
				},
				{timeout: patienceMs, interval: 10},
			);
		},
		async heard(name: string) {
			await vi.waitFor(
				() => {
					if (!signals().includes(name)) {
						throw new Error(`The job was sent: ${signals().join(' ')}`);
					}
				},
				{timeout: patienceMs, interval: 10},
			);
		},
		stop(exitCode = 0) {
			// The file is renamed into place, because the counter reads it as soon as it exists.
			writeFileSync(in_('stop.new'), String(exitCode));
			renameSync(in_('stop.new'), in_('stop'));
		},
		/** Starts the driver without a terminal in its own session, like a service manager. */
		spawn: (words: readonly string[], more: Readonly<Record<string, string>> = {}) => spawnHere('chg', words, more),
		/** Starts a shell script in the same way. It can call `chg`. */
		script: (commands: string, more: Readonly<Record<string, string>> = {}) =>
			spawnHere('bash', ['-c', commands], more),
		async run(words: readonly string[], more: Readonly<Record<string, string>> = {}) {
			const child = spawnHere('chg', words, more);
			const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
			return {stdout, stderr, exitCode: child.exitCode, signal: child.signalCode};
		},
		terminal: (command: string, ...args: readonly string[]) => openTerminal({command, args, directory, environment}),
		/** Starts an interactive shell with job control. */
		shell: () =>
			openTerminal({
				command: 'bash',
				args: ['--norc', '--noprofile', '-i'],
				directory,
				environment: {...environment, PS1: 'shell> ', HISTFILE: ''},
			}),
	};
};

export type Stage = Awaited<ReturnType<typeof createStage>>;

/** Waits until all of these processes are in this state. */
export const becomes = async (state: Liveness, ...identities: readonly ProcessIdentity[]): Promise<void> => {
	await vi.waitFor(
		() => {
			const states = liveness(identities);
			if (states.some((found) => found !== state)) {
				throw new Error(`They are: ${states.join(' ')}`);
			}
		},
		{timeout: patienceMs, interval: 10},
	);
};

/** Waits until these processes are gone. */
export const gone = async (...identities: readonly ProcessIdentity[]): Promise<void> => becomes('dead', ...identities);
