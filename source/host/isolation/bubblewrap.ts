/**
Isolates with bubblewrap, which needs no privileges: in a mount namespace, the devices of foreign GPUs cannot be opened. The job gets its
own mounts and, except for root, its own user namespace. Its pid, parent, terminal, files and network stay the same. Bubblewrap creates the namespaces
and ends when a shell inside has proved that they work. The job enters the namespaces with nsenter(1), which then executes the job. Bubblewrap
does not start the job itself: as the job's parent, it would forward no signals, die of Ctrl-C before the job, and hide which signal killed the job.
*/
import {closeSync, openSync, readdirSync, readFileSync, readlinkSync, statSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type {IsolationProblem, NamespaceSetting} from '../../core/model/isolation.js';
import {messageOf} from '../../errors.js';
import {findProgram, type Fenced, type MakeFence} from './fence.js';
import {startWitness, type ProofNodes} from './witness.js';

type Programs = {readonly bwrap: string; readonly nsenter: string};

/** Returns the entries of a directory, except for the hidden nodes and links to them. */
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
Returns the bubblewrap options that hide these nodes. A directory such as /dev/dri is replaced by a directory with only the other nodes, because
ROCm fails on a node that cannot be opened. A node directly in /dev is mounted over itself, without permission to open devices. /dev is not replaced,
because openpty(3) fails without the directory pts beside /dev/ptmx.
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
	readonly masks: readonly string[];
	/** Whether the job gets its own user namespace. False only for root. */
	readonly hasUsers: boolean;
	readonly proof: ProofNodes;
};

/** Creates namespaces in which the foreign nodes cannot be opened, and proves this with a witness. The namespaces last until `close` is called. */
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
		// The open descriptors keep the namespaces alive, so the witness may end now. The job does not wait for its end.
		void witness.end();
	}
};

/** Settings of Linux, Debian and Ubuntu that prevent ordinary accounts from creating a user namespace. */
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

const forbiddingSettings = (): readonly NamespaceSetting[] =>
	namespaceSettings.flatMap(({name, forbids, wanted}) => {
		try {
			const value = readFileSync(path.join('/proc/sys', name.replaceAll('.', '/')), 'utf8').trim();
			return /^\d+$/v.test(value) && forbids(Number(value)) ? [{name, value, wanted}] : [];
		} catch {
			return [];
		}
	});

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
