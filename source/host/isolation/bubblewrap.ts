/**
An isolation made by bubblewrap, which needs no rights: in a namespace of mounts the nodes of foreign GPUs do not open. Only the mounts (and, for
accounts other than root, the user namespace that this takes) are the job's own. Its pid, parent, terminal, files and network stay.

Bubblewrap makes the namespaces, a shell in them proves that they hold, and both end. The job enters them by nsenter(1), which becomes the job. A job that bubblewrap itself starts is
the child of a process that passes no signal on, dies of Ctrl-C before its job, and hides of which signal the job died.
*/
import {closeSync, openSync, readdirSync, readFileSync, readlinkSync, statSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type {IsolationProblem, NamespaceSetting} from '../../core/model/isolation.js';
import {messageOf} from '../../errors.js';
import {findProgram, type Fenced, type MakeFence} from './fence.js';
import {startWitness, type ProofNodes} from './witness.js';

type Programs = {readonly bwrap: string; readonly nsenter: string};

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
const maskWords = (devices: string, foreign: ReadonlyArray<{readonly file: string}>): readonly string[] => {
	const hidden = new Set(foreign.map(({file}) => file));
	const byDirectory = Map.groupBy(hidden, (file) => path.dirname(file));
	return [...byDirectory].flatMap(([directory, files]) =>
		directory === devices
			? files.flatMap((file) => ['--bind', file, file])
			: ['--tmpfs', directory, ...keptEntries(directory, hidden)],
	);
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
	/** The result of {@link maskWords}. */
	readonly masks: readonly string[];
	/** Whether they include a user namespace, which all but root of the machine need. */
	readonly hasUsers: boolean;
	readonly proof: ProofNodes;
};

/** Makes namespaces in which the foreign nodes do not open, and proves that they do not. They hold as long as `close` was not called. */
const makeNamespaces = async (
	{bwrap, nsenter}: Programs,
	{masks, hasUsers, proof}: NamespaceOptions,
): Promise<Fenced | IsolationProblem> => {
	const users = hasUsers ? ['--unshare-user'] : [];
	const witness = await startWitness({
		words: [bwrap, ...users, '--dev-bind', '/', '/', ...masks, '--'],
		program: 'bwrap',
		proof,
	});
	if (witness.kind !== 'witness') {
		return witness;
	}

	try {
		const {pid} = witness;
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
			kind: 'fenced',
			entrance: [
				nsenter,
				'--preserve-credentials',
				...flags.map((flag, index) => `--${flag}=/proc/${process.pid}/fd/${descriptors[index]}`),
				'--',
			],
			async close() {
				close();
			},
		};
	} catch (error) {
		return {kind: 'refused', program: 'bwrap', words: messageOf(error)};
	} finally {
		// The descriptors keep the namespaces: the witness is needed no more, and the job does not wait for its end.
		void witness.end();
	}
};

/** Settings of Linux, Debian and Ubuntu that forbid an ordinary account to have a user namespace of its own. */
const namespaceSettings: ReadonlyArray<{
	readonly name: string;
	readonly forbids: (value: number) => boolean;
	readonly wanted: string;
}> = [
	{name: 'user.max_user_namespaces', forbids: (value) => value === 0, wanted: '15000'},
	{name: 'user.max_mnt_namespaces', forbids: (value) => value === 0, wanted: '15000'},
	{name: 'kernel.unprivileged_userns_clone', forbids: (value) => value === 0, wanted: '1'},
	{name: 'kernel.apparmor_restrict_unprivileged_userns', forbids: (value) => value !== 0, wanted: '0'},
];

/** The settings that forbid it on this machine. Empty where none does, or where they cannot be read. */
const forbiddingSettings = (): readonly NamespaceSetting[] =>
	namespaceSettings.flatMap(({name, forbids, wanted}) => {
		try {
			const value = readFileSync(path.join('/proc/sys', name.replaceAll('.', '/')), 'utf8').trim();
			return /^\d+$/v.test(value) && forbids(Number(value)) ? [{name, value, wanted}] : [];
		} catch {
			return [];
		}
	});

/** A refusal, with what the kernel has to do with it. */
const explained = (problem: IsolationProblem, hasUsers: boolean): IsolationProblem => {
	const settings = problem.kind === 'refused' && hasUsers ? forbiddingSettings() : [];
	return settings.length === 0 ? problem : {kind: 'no-namespaces', settings};
};

export const fenceByBubblewrap: MakeFence = async ({devices, foreign, proof, environment, isRoot}) => {
	const bwrap = findProgram('bwrap', environment);
	const nsenter = findProgram('nsenter', environment);
	if (typeof bwrap === 'object') {
		return bwrap;
	}

	if (typeof nsenter === 'object') {
		return nsenter;
	}

	const hasUsers = !isRoot;
	const made = await makeNamespaces({bwrap, nsenter}, {masks: maskWords(devices, foreign), hasUsers, proof});
	return made.kind === 'fenced' ? made : explained(made, hasUsers);
};
