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
import {libraryCommand, simulatedCount} from '../names.js';
import {isInstalled} from '../start-up/early-readings.js';
import {createToolTime, type ToolTime} from './tool-time.js';

export async function scenarioOf(provider: ProviderName | undefined, config: Config): Promise<Scenario | undefined> {
	const file = provider === 'fake' ? config.get('simulated.scenario') : undefined;
	if (file === undefined) {
		return undefined;
	}

	const {loadScenario} = await import('../scenario.js');
	return loadScenario(file);
}

export type ProviderContext = {
	readonly clock: Clock;
	readonly config: Config;
	readonly host: Host;
	/** The store whose leases determine the load of simulated GPUs. */
	readonly store?: Store;
	readonly scenario?: Scenario;
	readonly simulatedProcesses?: SimulatedProcesses;
	readonly early?: EarlyRuns;
	readonly details?: WantedDetails;
};

const toolTimeOf = ({config, host, clock}: ProviderContext): ToolTime =>
	createToolTime(config, host, clock.monotonicMs);

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

/** Scans before the store is connected, because the GPU tool is the slowest part of most commands. Uses the first tool that is installed. */
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

const createSimulated = ({clock, host, store, scenario, simulatedProcesses}: ProviderContext): GpuProvider =>
	createSimulatedProvider({
		monotonicMs: clock.monotonicMs,
		nowSeconds: () => Date.now() / 1000,
		scenario,
		processes: simulatedProcesses,
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

			// Dead jobs cause no load. GPUs that a waiting request already holds cause no load, either.
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

const insideBinary = '/$bunfs/';

/** Returns the command line that starts this program again, with a small heap. */
function selfCommand(...words: readonly string[]): ToolCall {
	const {execPath, argv, versions} = process;
	const file = argv[1] ?? '';
	const flags = versions['bun'] === undefined ? ['--max-semi-space-size=1', '--max-old-space-size=64'] : [];
	return {command: execPath, args: file.startsWith(insideBinary) ? words : [...flags, file, ...words]};
}

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
		library: selfCommand(libraryCommand),
	});
	return () => createNvidiaProvider({...world, createSources});
}

/** Counts the GPUs of this machine. Throws if the wanted provider cannot count them. */
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
