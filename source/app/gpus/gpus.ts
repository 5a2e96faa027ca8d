/** Chooses the GPU provider. */
import {uptime} from 'node:os';
import {performance} from 'node:perf_hooks';
import process from 'node:process';
import type {Config} from '../../config/config.js';
import type {Clock, GpuProvider, Host, Store} from '../../core/model/ports.js';
import {holdingsIn} from '../../core/rules/leases/holdings.js';
import {endingOf} from '../../core/rules/leases/liveness.js';
import {ownerOf} from '../../core/rules/leases/ownership.js';
import type {Observation, ProviderName} from '../../core/model/types.js';
import {createAmdProvider} from '../../gpu/amd/amd.js';
import {detectProvider} from '../../gpu/detect.js';
import type {EarlyRuns, ToolCall} from '../../gpu/tool/early-tool.js';
import {createNvidiaProvider} from '../../gpu/nvidia/nvidia.js';
import {createSlowReadings, type WantedDetails} from '../../gpu/nvidia/slow-readings.js';
import type {Scenario} from '../../gpu/simulated/scenario.js';
import type {SimulatedProcesses} from '../../gpu/simulated/processes.js';
import {createSimulatedProvider} from '../../gpu/simulated/simulated.js';
import {createProcessDescriber} from '../../host/process/details.js';
import {runTool} from '../../host/tool/spawn.js';
import {runSystemTool} from '../../host/tool/system-tool.js';
import {createUsers} from '../../host/accounts/users.js';
import type {Detected} from '../contract.js';
import {libraryVerb, simulatedCount} from '../names.js';
import {isInstalled} from '../start-up/early-readings.js';
import {createToolTime, type ToolTime} from './tool-time.js';

/** The scenario of the config. Simulated GPUs alone have one. */
export async function scenarioOf(provider: ProviderName | undefined, config: Config): Promise<Scenario | undefined> {
	const file = provider === 'fake' ? config.get('simulated.scenario') : undefined;
	if (file === undefined) {
		return undefined;
	}

	const {loadScenario} = await import('../scenario.js');
	return loadScenario(file);
}

/** What a provider is made of. */
export type ProviderContext = {
	readonly clock: Clock;
	readonly config: Config;
	readonly host: Host;
	/** Where simulated GPUs find the leases to show load for. */
	readonly store?: Store;
	/** What they show besides. */
	readonly scenario?: Scenario;
	/** Where their processes can be acted on. */
	readonly simulatedProcesses?: SimulatedProcesses;
	/** Runs of the tool that are under way already. */
	readonly early?: EarlyRuns;
	/** What to ask the GPUs for besides; nothing when left out. */
	readonly details?: WantedDetails;
};

const toolTimeOf = ({config, host, clock}: ProviderContext): ToolTime =>
	createToolTime(config, host, clock.monotonicMs);

/** What every provider of real GPUs is given. */
const realWorld = (context: ProviderContext) => ({
	run: context.early?.run ?? runTool,
	describeProcesses: createProcessDescriber({users: createUsers(), run: runSystemTool}),
	monotonicMs: context.clock.monotonicMs,
	timeLimitMs: toolTimeOf(context).limitMs,
});

const createNvidia = (context: ProviderContext): GpuProvider => {
	const world = realWorld(context);
	const {details = 'none'} = context;
	const provider = createNvidiaProvider({
		...world,
		slowReadings: createSlowReadings({...world, uptimeSeconds: uptime, details}),
	});
	return toolTimeOf(context).watch(provider);
};

const createAmd = (context: ProviderContext): GpuProvider =>
	toolTimeOf(context).watch(createAmdProvider(realWorld(context)));

/**
Begins to scan the GPUs before anything else is loaded or connected: the tool is the slowest part of most verbs, and nearly every
pool on a box that has it is its own. Undefined where no tool is installed.
*/
export function scanEarly(context: ProviderContext): GpuProvider | undefined {
	const create = isInstalled('nvidia-smi') ? createNvidia : isInstalled('amd-smi') ? createAmd : undefined;
	if (create === undefined) {
		return undefined;
	}

	const provider = create(context);
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
const createSimulated = ({clock, host, store, scenario, simulatedProcesses}: ProviderContext): GpuProvider =>
	createSimulatedProvider({
		monotonicMs: clock.monotonicMs,
		nowSeconds: () => Date.now() / 1000,
		scenario,
		processes: simulatedProcesses,
		// With this process.
		startedAtSeconds: performance.timeOrigin / 1000,
		async gpuCount() {
			const snapshot = await store?.read();
			return snapshot?.pool?.gpuCount ?? simulatedCount;
		},
		async leases() {
			const snapshot = await store?.read();
			if (snapshot === undefined) {
				return [];
			}

			// A dead job uses nothing, although its lease may not have ended yet; who waits for more GPUs has not begun.
			const working = holdingsIn(snapshot.gpus).filter(
				({lease}) => lease.partialQueueId === undefined && endingOf(lease, snapshot, host) === undefined,
			);
			return working.map(({index, lease}) => ({
				index,
				user: ownerOf(lease),
				type: lease.type,
				shareMiB: lease.memoryMiB,
				instance: lease.mig && {gpuInstanceId: lease.mig.gpuInstanceId},
				pid: lease.job?.pid ?? lease.holder?.pid,
				startTime: lease.startTime,
			}));
		},
	});

export function createProvider(name: ProviderName, context: ProviderContext): GpuProvider {
	switch (name) {
		case 'nvidia': {
			return createNvidia(context);
		}

		case 'fake': {
			return createSimulated(context);
		}

		case 'amd': {
			return createAmd(context);
		}
	}
}

/** Where a binary made by Bun keeps the program that is in it. */
const insideBinary = '/$bunfs/';

/** How this program starts itself, in little memory: for what keeps nothing. */
function selfCommand(...words: readonly string[]): ToolCall {
	const {execPath, argv, versions} = process;
	const file = argv[1] ?? '';
	const flags = versions['bun'] === undefined ? ['--max-semi-space-size=1', '--max-old-space-size=64'] : [];
	return {command: execPath, args: file.startsWith(insideBinary) ? words : [...flags, file, ...words]};
}

/** Makes providers for a face that scans again and again, every `intervalMs`. */
export async function watchingProvider(
	name: ProviderName,
	context: ProviderContext,
	intervalMs: number,
): Promise<() => GpuProvider> {
	if (name !== 'nvidia') {
		return () => createProvider(name, context);
	}

	const {createLiveSources} = await import('../../gpu/nvidia/live.js');
	const world = realWorld(context);
	const createSources = createLiveSources({
		...world,
		intervalMs,
		uptimeSeconds: uptime,
		library: selfCommand(libraryVerb),
	});
	return () => createNvidiaProvider({...world, createSources});
}

/**
Counts the GPUs of this box.

@param wanted - Undefined: whatever is here.
@throws CanhazgpuError `provider` when what was asked for by name cannot be counted.
*/
export async function detectGpus(wanted: ProviderName | undefined, context: ProviderContext): Promise<Detected> {
	const found =
		wanted === undefined
			? await detectProvider({
					run: runTool,
					searchPath: process.env['PATH'] ?? '',
					timeoutMs: toolTimeOf(context).limitMs(),
				})
			: {provider: wanted, others: []};
	return found.provider === undefined
		? found
		: {...found, gpuCount: await createProvider(found.provider, context).count()};
}
