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
import {createAmdProvider} from './gpu/amd.js';
import {detectProvider} from './gpu/detect.js';
import {createNvidiaProvider} from './gpu/nvidia.js';
import {createSimulatedProvider} from './gpu/simulated.js';
import {createProcessDescriber} from './host/process-details.js';
import {runTool} from './host/spawn.js';
import {createUsers} from './host/users.js';

/** How many GPUs a simulated box has when nobody says. */
export const simulatedCount = 8;

/** What every provider of real GPUs is given. */
const realWorld = (clock: Clock) => ({
	run: runTool,
	describeProcesses: createProcessDescriber({users: createUsers(), run: runTool}),
	monotonicMs: clock.monotonicMs,
});

const createNvidia = (clock: Clock): GpuProvider => createNvidiaProvider(realWorld(clock));

const createAmd = (clock: Clock): GpuProvider => createAmdProvider(realWorld(clock));

const isInstalled = (command: string): boolean =>
	(process.env['PATH'] ?? '')
		.split(path.delimiter)
		.some((directory) => path.isAbsolute(directory) && existsSync(path.join(directory, command)));

/**
Begins to look at the GPUs before anything else is loaded or connected: the tool is the slowest part of most verbs, and nearly every
pool on a box that has it is its own. Undefined where no tool is installed.
*/
export function lookEarly(clock: Clock): GpuProvider | undefined {
	const create = isInstalled('nvidia-smi') ? createNvidia : isInstalled('amd-smi') ? createAmd : undefined;
	if (create === undefined) {
		return undefined;
	}

	const provider = create(clock);
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

export function createProvider(name: ProviderName, clock: Clock, store?: Store): GpuProvider {
	switch (name) {
		case 'nvidia': {
			return createNvidia(clock);
		}

		case 'fake': {
			return createSimulated(clock, store);
		}

		case 'amd': {
			return createAmd(clock);
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
