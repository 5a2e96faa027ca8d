/**
An isolation made by bubblewrap, which needs no rights: in a namespace of mounts the nodes of foreign GPUs do not open. Only the mounts (and, for
accounts other than root, the user namespace that this takes) are the job's own. Its pid, parent, terminal, files and network stay.

Bubblewrap makes the namespaces, a shell in them proves that they hold, and both end. The job enters them by nsenter(1), which becomes the job. A job that bubblewrap itself starts is
the child of a process that passes no signal on, dies of Ctrl-C before its job, and hides of which signal the job died.
*/
import {spawn} from 'node:child_process';
import {closeSync, openSync, readdirSync, readlinkSync, statSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import type {IsolationProblem} from '../../core/model/isolation.js';
import type {DeviceNode} from './device-nodes.js';
import {leakIn, proofLines, proofWords, type ProofNodes} from './proof.js';

/** Entries of a directory without these nodes, and without links to them. */
const keptEntries = (directory: string, hidden: ReadonlySet<string>): readonly string[] =>
	readdirSync(directory, {withFileTypes: true}).flatMap((entry) => {
		const file = path.join(directory, entry.name);
		if (hidden.has(file)) {
			return [];
		}

		if (entry.isSymbolicLink()) {
			const target = readlinkSync(file);
			return hidden.has(path.resolve(directory, target)) ? [] : ['--symlink', target, file];
		}

		return entry.isDirectory() ? ['--dir', file, ...keptEntries(file, hidden)] : ['--dev-bind', file, file];
	});

/**
What keeps a job from these nodes. Those in a directory of their own (dri, nvidia-caps) are left out of it: ROCm takes a node that refuses to
open for a fault of the account. Those in /dev itself are bound on themselves without leave to open devices: an empty /dev into which all
else is bound makes openpty(3) fail, because /dev/ptmx finds its terminals only beside itself.
*/
export const maskWords = (devices: string, foreign: readonly DeviceNode[]): readonly string[] => {
	const hidden = new Set(foreign.map(({file}) => file));
	const byDirectory = Map.groupBy(hidden, (file) => path.dirname(file));
	return [...byDirectory].flatMap(([directory, files]) =>
		directory === devices
			? files.flatMap((file) => ['--bind', file, file])
			: ['--tmpfs', directory, ...keptEntries(directory, hidden)],
	);
};

/** Only what these programs need: no variable of the user changes what they do. */
export const plainEnvironment = {LC_ALL: 'C', PATH: '/usr/bin:/bin:/usr/sbin:/sbin'};

export type Programs = {readonly bwrap: string; readonly nsenter: string};

/** Far more than the milliseconds that it takes; but a driver may take seconds to wake a GPU that nothing uses. */
const patienceSeconds = 60;

export type Namespaces = {
	readonly kind: 'made';
	/** Words that start a command in them. They hold as long as `close` was not called. */
	readonly entrance: readonly string[];
	readonly close: () => void;
};

/** Opens all of them, or none. */
const openAll = (files: readonly string[]): readonly number[] => {
	const descriptors: number[] = [];
	try {
		for (const file of files) {
			descriptors.push(openSync(file, 'r'));
		}
	} catch (error) {
		for (const descriptor of descriptors) {
			closeSync(descriptor);
		}

		throw error;
	}

	return descriptors;
};

const isSameDirectory = (one: string, other: string): boolean => {
	const [a, b] = [one, other].map((file) => statSync(file, {bigint: true}));
	return a!.dev === b!.dev && a!.ino === b!.ino;
};

type NamespaceOptions = {
	/** Of {@link maskWords}. */
	readonly masks: readonly string[];
	/** Whether they include a user namespace, which all but root of the machine need. */
	readonly hasUsers: boolean;
	/** What the process that holds them tries to open before anything else enters them. */
	readonly proof: ProofNodes;
};

/** Makes namespaces in which the foreign nodes do not open, and proves that they do not. */
export const makeNamespaces = async (
	programs: Programs,
	options: NamespaceOptions,
): Promise<Namespaces | IsolationProblem> => {
	const first = await tryToMakeNamespaces(programs, options);
	// Before bubblewrap has a session of its own, a key of the terminal ends it. That is no fault of isolation, and told otherwise.
	const made = first === 'ended by a signal' ? await tryToMakeNamespaces(programs, options) : first;
	return made === 'ended by a signal' ? {kind: 'refused', program: 'bwrap', words: made} : made;
};

const tryToMakeNamespaces = async (
	{bwrap, nsenter}: Programs,
	{masks, hasUsers, proof}: NamespaceOptions,
): Promise<Namespaces | IsolationProblem | 'ended by a signal'> => {
	const child = spawn(
		bwrap,
		[
			...(hasUsers ? ['--unshare-user'] : []),
			'--dev-bind',
			'/',
			'/',
			...masks,
			'--',
			...proofWords(proof, '; echo $$; read -r end'),
		],
		// In a session of its own: no key of the terminal reaches it.
		{env: plainEnvironment, stdio: ['pipe', 'pipe', 'pipe'], detached: true},
	);
	const failed = new Promise<string>((resolve) => {
		child.once('error', (error) => {
			resolve(error.message);
		});
	});
	const endedBySignal = new Promise<boolean>((resolve) => {
		child.once('exit', (_, signal) => {
			resolve(signal !== null);
		});
	});
	child.stdin.on('error', () => undefined);
	if (child.pid === undefined) {
		return {kind: 'refused', program: 'bwrap', words: await failed};
	}

	const limit = AbortSignal.timeout(patienceSeconds * 1000);
	limit.addEventListener('abort', () => {
		child.kill('SIGKILL');
	});
	const words = text(child.stderr);
	try {
		const {lines, pid} = await provedBy(child.stdout);
		if (pid === 0) {
			if (limit.aborted) {
				return {kind: 'slow', program: 'bwrap', seconds: patienceSeconds};
			}

			return (await endedBySignal) ? 'ended by a signal' : {kind: 'refused', program: 'bwrap', words: await words};
		}

		const leak = leakIn(lines, proof);
		if (leak !== undefined) {
			return leak;
		}

		const names = [...(hasUsers ? ['user'] : []), 'mnt'];
		const descriptors = openAll([...names.map((name) => `/proc/${pid}/ns/${name}`), `/proc/${pid}/cwd`]);
		const close = (): void => {
			for (const descriptor of descriptors) {
				closeSync(descriptor);
			}
		};

		if (!isSameDirectory('.', `/proc/${pid}/cwd`)) {
			close();
			return {kind: 'no-directory'};
		}

		const flags = [...names.map((name) => (name === 'mnt' ? 'mount' : name)), 'wd'];
		return {
			kind: 'made',
			entrance: [
				nsenter,
				'--preserve-credentials',
				...flags.map((flag, index) => `--${flag}=/proc/${process.pid}/fd/${descriptors[index]}`),
				'--',
			],
			close,
		};
	} catch (error) {
		return {kind: 'refused', program: 'bwrap', words: error instanceof Error ? error.message : String(error)};
	} finally {
		// The descriptors keep the namespaces: it is needed no more.
		child.stdin.end();
		child.stdout.destroy();
	}
};

/** The lines of the proof, and the pid of who made it: 0 when it ended before it was done. */
const provedBy = async (
	stream: NodeJS.ReadableStream,
): Promise<{readonly lines: readonly string[]; readonly pid: number}> => {
	let output = '';
	stream.setEncoding('utf8');
	for await (const part of stream) {
		output += String(part);
		const lines = proofLines(output);
		const pid =
			lines &&
			/^\d+\n/v.exec(
				output
					.split('\n')
					.slice(lines.length + 1)
					.join('\n'),
			);
		if (lines && pid) {
			return {lines, pid: Number(pid[0])};
		}
	}

	return {lines: [], pid: 0};
};
