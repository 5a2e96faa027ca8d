import path from 'node:path';
import {
	fences,
	type Fence,
	type Isolate,
	type IsolationCheck,
	type IsolationProblem,
} from '../../core/model/isolation.js';
import {isMachineRoot} from '../../security/user-namespace.js';
import {runTool} from '../tool/spawn.js';
import {fenceByBubblewrap} from './bubblewrap.js';
import {fenceByDeviceGroup, sweepDeviceGroups} from './device-group.js';
import {partNodesBy, readDeviceNodes, type DeviceNode} from './device-nodes.js';
import type {Fenced, FenceOptions, MakeFence} from './fence.js';
import {fenceBySystemd} from './systemd.js';
import {leakIn, plainEnvironment, proofLines, proofWords, type ProofNodes} from './witness.js';

type IsolationOptions = {
	/** Directory with /dev, /proc and /sys of the GPUs. Undefined for simulated GPUs without such a directory. */
	readonly root: string | undefined;
	readonly environment: Readonly<Record<string, string | undefined>>;
};

const makers: Readonly<Record<Fence, MakeFence>> = {
	bwrap: fenceByBubblewrap,
	systemd: fenceBySystemd,
	cgroup: fenceByDeviceGroup,
};

const isAllowed = (fence: Fence, isRoot: boolean): boolean => isRoot || fence === 'bwrap';

type Found = {readonly kind: 'found'; readonly fence: Fence; readonly fenced: Fenced};

/** Returns the first mechanism that works. If none works, returns the problem of the first mechanism. */
async function findFence(
	wanted: Fence | undefined,
	options: Omit<FenceOptions, 'isRoot'>,
	check?: (fenced: Fenced) => Promise<IsolationProblem | undefined>,
): Promise<Found | IsolationProblem> {
	const isRoot = isMachineRoot();
	if (wanted !== undefined && !isAllowed(wanted, isRoot)) {
		return {kind: 'needs-root', fence: wanted};
	}

	const candidates = wanted === undefined ? fences.filter((fence) => isAllowed(fence, isRoot)) : [wanted];
	let first: IsolationProblem | undefined;
	for (const fence of candidates) {
		const made = await makers[fence]({...options, isRoot});
		if (made.kind !== 'fenced') {
			first ??= made;
			continue;
		}

		const problem = await check?.(made);
		if (problem === undefined) {
			return {kind: 'found', fence, fenced: made};
		}

		await made.close();
		first ??= problem;
	}

	return first!;
}

/** Returns the node that a job opens first. For ROCm, this is a render node, because `card` nodes are for displays. */
const mainNode = (granted: readonly DeviceNode[]): DeviceNode =>
	granted.find(({kind}) => kind === 'gpu') ?? granted.find(({file}) => file.includes('/render')) ?? granted[0]!;

const nothing = async (): Promise<void> => undefined;

export const createIsolate =
	({root, environment}: IsolationOptions): Isolate =>
	async (granted, wanted) => {
		const notIsolated = (problem: IsolationProblem) => ({kind: 'not-isolated', problem}) as const;
		if (root === undefined) {
			return notIsolated({kind: 'simulated'});
		}

		const parted = partNodesBy(readDeviceNodes(root), granted);
		if (parted.kind !== 'parted') {
			return notIsolated(parted);
		}

		const {foreign} = parted;
		if (foreign.length === 0) {
			return {kind: 'isolated', fence: undefined, entrance: [], close: nothing};
		}

		const proof = {foreign: foreign.map(({file}) => file), granted: mainNode(parted.granted).file};
		const found = await findFence(wanted, {devices: path.join(root, 'dev'), foreign, proof, environment});
		return found.kind === 'found'
			? {kind: 'isolated', fence: found.fence, entrance: found.fenced.entrance, close: found.fenced.close}
			: notIsolated(found);
	};

/** Tests whether the isolation command can start a job. `run` skips this test to save time, because the witness has already proved the isolation. */
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

/** Tests which mechanism can isolate a job here, with /dev/zero as the foreign device. Also removes control groups that killed processes left. */
export const checkIsolation = async (environment: IsolationOptions['environment']): Promise<IsolationCheck> => {
	sweepDeviceGroups();
	const foreign = [{file: '/dev/zero'}];
	const proof = {foreign: ['/dev/zero'], granted: '/dev/null'};
	const found = await findFence(undefined, {devices: '/dev', foreign, proof, environment}, async ({entrance}) =>
		entranceProblem(entrance, proof),
	);
	if (found.kind !== 'found') {
		return {kind: 'not-isolated', problem: found};
	}

	await found.fenced.close();
	return {kind: 'possible', fence: found.fence};
};
