import path from 'node:path';
import type {Isolate, IsolationProblem, NotIsolated} from '../../core/model/isolation.js';
import {isMachineRoot} from '../../security/user-namespace.js';
import {lookUpCommand} from '../tool/command.js';
import {runTool} from '../tool/spawn.js';
import {makeNamespaces, maskWords, plainEnvironment, type Namespaces, type Programs} from './bubblewrap.js';
import {partNodesBy, readDeviceNodes, type DeviceNode} from './device-nodes.js';
import {leakIn, proofLines, proofWords, type ProofNodes} from './proof.js';
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
		const proof = {
			foreign: parted.foreign.map(({file}) => file),
			granted: mainNode(parted.granted).file,
		};
		const namespaces = await makeNamespaces(programs, {masks, hasUsers, proof});
		if (isProblem(namespaces)) {
			return notIsolated(explained(namespaces, hasUsers));
		}

		const {entrance, close} = namespaces;
		return {kind: 'isolated', entrance, close};
	};

/** Tries the same with the words that start a job. They enter what was proved already, so only a check of the machine has time for it. */
async function entranceProblem(
	[program, ...words]: readonly string[],
	nodes: ProofNodes,
): Promise<IsolationProblem | undefined> {
	const {stdout, stderr, failure, detail} = await runTool(program!, [...words, ...proofWords(nodes)], {
		timeoutMs: 20_000,
		environment: plainEnvironment,
	});
	const lines = failure === undefined ? proofLines(stdout) : undefined;
	return lines === undefined
		? {kind: 'refused', program: path.basename(program!), words: detail ?? stderr}
		: leakIn(lines, nodes);
}

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
	const proof = {foreign: ['/dev/zero'], granted: '/dev/null'};
	const namespaces = await makeNamespaces(programs, {masks: ['--bind', '/dev/zero', '/dev/zero'], hasUsers, proof});
	if (isProblem(namespaces)) {
		return explained(namespaces, hasUsers);
	}

	const problem = await entranceProblem(namespaces.entrance, proof);
	namespaces.close();
	return problem === undefined ? undefined : explained(problem, hasUsers);
};
