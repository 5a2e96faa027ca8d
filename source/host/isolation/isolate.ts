import path from 'node:path';
import type {Isolate, IsolationProblem, NotIsolated} from '../../core/model/isolation.js';
import {isMachineRoot} from '../../security/user-namespace.js';
import {lookUpCommand} from '../tool/command.js';
import {makeNamespaces, maskWords, type Namespaces, type Programs} from './bubblewrap.js';
import {partNodesBy, readDeviceNodes, type DeviceNode} from './device-nodes.js';
import {findLeak} from './proof.js';
import {forbiddingSettings} from './user-namespaces.js';

export type IsolationOptions = {
	/** Where /dev, /proc and /sys of the GPUs are. Undefined where GPUs are simulated without a stand-in. */
	readonly root: string | undefined;
	readonly environment: Readonly<Record<string, string | undefined>>;
};

const findProgram = (
	program: 'bwrap' | 'nsenter',
	environment: IsolationOptions['environment'],
): string | IsolationProblem => {
	const found = lookUpCommand(program, environment);
	return found.kind === 'found' ? path.resolve(found.file) : {kind: 'no-program', program};
};

const findPrograms = (environment: IsolationOptions['environment']): Programs | IsolationProblem => {
	const bwrap = findProgram('bwrap', environment);
	const nsenter = findProgram('nsenter', environment);
	return typeof bwrap === 'object' ? bwrap : typeof nsenter === 'object' ? nsenter : {bwrap, nsenter};
};

const isProblem = <Value extends Programs | Namespaces>(value: Value | IsolationProblem): value is IsolationProblem =>
	!('nsenter' in value) && !('entrance' in value);

/** A refusal, with what the kernel has to do with it. */
const explained = (problem: IsolationProblem, hasUsers: boolean): IsolationProblem => {
	const settings = problem.kind === 'refused' && hasUsers ? forbiddingSettings() : [];
	return settings.length === 0 ? problem : {kind: 'no-namespaces', settings};
};

const notIsolated = (problem: IsolationProblem): NotIsolated => ({kind: 'not-isolated', problem});

/** What a job opens first of all: what ROCm computes on is a render node, and its `card` is for displays. */
const mainNode = (granted: readonly DeviceNode[]): DeviceNode =>
	granted.find(({kind}) => kind === 'gpu') ?? granted.find(({file}) => file.includes('/render')) ?? granted[0]!;

const nothing = (): void => undefined;

/** Isolates jobs from the GPUs that they were not granted. Nothing is kept between two of them. */
export const createIsolate =
	({root, environment}: IsolationOptions): Isolate =>
	async (granted) => {
		if (root === undefined) {
			return notIsolated({kind: 'simulated'});
		}

		const parted = partNodesBy(readDeviceNodes(root), granted);
		if (parted.kind !== 'parted') {
			return notIsolated(parted);
		}

		if (parted.foreign.length === 0) {
			return {kind: 'isolated', entrance: [], close: nothing};
		}

		const programs = findPrograms(environment);
		if (isProblem(programs)) {
			return notIsolated(programs);
		}

		const hasUsers = !isMachineRoot();
		const masks = maskWords(path.join(root, 'dev'), parted.foreign);
		const namespaces = await makeNamespaces(programs, masks, hasUsers);
		if (isProblem(namespaces)) {
			return notIsolated(explained(namespaces, hasUsers));
		}

		const {entrance, close} = namespaces;
		const leak = await findLeak(entrance, {
			foreign: parted.foreign.map(({file}) => file),
			granted: mainNode(parted.granted).file,
		});
		if (leak !== undefined) {
			close();
			return notIsolated(explained(leak, hasUsers));
		}

		return {kind: 'isolated', entrance, close};
	};

/**
Whether a job could be isolated on this machine at all, tried on a device that every machine has. Undefined: it could.

@param environment - Where programs are looked for.
*/
export const findIsolationProblem = async (
	environment: IsolationOptions['environment'],
): Promise<IsolationProblem | undefined> => {
	const programs = findPrograms(environment);
	if (isProblem(programs)) {
		return programs;
	}

	const hasUsers = !isMachineRoot();
	const namespaces = await makeNamespaces(programs, ['--bind', '/dev/zero', '/dev/zero'], hasUsers);
	if (isProblem(namespaces)) {
		return explained(namespaces, hasUsers);
	}

	const leak = await findLeak(namespaces.entrance, {foreign: ['/dev/zero'], granted: '/dev/null'});
	namespaces.close();
	return leak === undefined ? undefined : explained(leak, hasUsers);
};
