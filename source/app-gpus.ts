/**
Chooses the GPU provider.
*/
import {existsSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type {Clock, GpuProvider, Store} from './core/ports.js';
import {isLeased} from './core/lifecycle.js';
import {ownerOf} from './core/ownership.js';
import type {Observation, ProviderName} from './core/types.js';
import {CanhazgpuError} from './errors.js';
import {detectProvider} from './gpu/detect.js';
import {createNvidiaProvider} from './gpu/nvidia.js';
import {createSimulatedProvider} from './gpu/simulated.js';
import {createProcessDescriber} from './host/process-details.js';
import {runTool} from './host/spawn.js';
import {createUsers} from './host/users.js';

/** How many GPUs a simulated box has when nobody says. */
export const simulatedCount = 8;

const createNvidia = (clock: Clock): GpuProvider =>
	createNvidiaProvider({
		run: runTool,
		describeProcesses: createProcessDescriber({users: createUsers(), run: runTool}),
		monotonicMs: clock.monotonicMs,
	});

/**
Begins to look at NVIDIA GPUs before anything else is loaded or connected: the tool is the slowest part of most verbs, and nearly
every pool on a box that has it is its own. Undefined where the tool is not installed.
*/
export function lookEarly(clock: Clock): GpuProvider | undefined {
	const isInstalled = (process.env['PATH'] ?? '')
		.split(path.delimiter)
		.some((directory) => path.isAbsolute(directory) && existsSync(path.join(directory, 'nvidia-smi')));
	if (!isInstalled) {
		return undefined;
	}

	const provider = createNvidia(clock);
	let early: Promise<Observation> | undefined = provider.observe();
	return {
		...provider,
		async observe() {
			const observation = early ?? provider.observe();
			early = undefined;
			return observation;
		},
	};
}

/** Load appears where the pool's leases are. */
const createSimulated = (clock: Clock, store: Store | undefined): GpuProvider =>
	createSimulatedProvider({
		monotonicMs: clock.monotonicMs,
		nowSeconds: () => Date.now() / 1000,
		async gpuCount() {
			const snapshot = await store?.read();
			return snapshot?.pool?.gpuCount ?? simulatedCount;
		},
		async leases() {
			const snapshot = await store?.read();
			return (snapshot?.gpus ?? []).filter(isLeased).map(({index, lease}) => ({
				index,
				user: ownerOf(lease),
				type: lease.type,
				pid: lease.job?.pid ?? lease.holder?.pid,
				startTime: lease.startTime,
			}));
		},
	});

/** @throws CanhazgpuError `provider` for one that this version does not know how to ask. */
export function createProvider(name: ProviderName, clock: Clock, store?: Store): GpuProvider {
	switch (name) {
		case 'nvidia': {
			return createNvidia(clock);
		}

		case 'fake': {
			return createSimulated(clock, store);
		}

		case 'amd': {
			throw new CanhazgpuError('provider', 'This pool has AMD GPUs, which this version cannot read', {
				hint: 'Use a version of canhazgpu that supports AMD.',
			});
		}
	}
}

/** What is here, or why nothing was found. */
export type Detected =
	| {readonly provider: ProviderName; readonly gpuCount: number}
	| {readonly provider: undefined; readonly reason: string};

/**
Counts the GPUs of this box.

@param wanted - Undefined: whatever is here.
@throws CanhazgpuError `provider` when what was asked for by name cannot be counted.
*/
export async function detectGpus(wanted: ProviderName | undefined, clock: Clock): Promise<Detected> {
	const found =
		wanted === undefined
			? await detectProvider({run: runTool, searchPath: process.env['PATH'] ?? ''})
			: {provider: wanted};
	return found.provider === undefined
		? found
		: {provider: found.provider, gpuCount: await createProvider(found.provider, clock).count()};
}
