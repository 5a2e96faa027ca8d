/** A fictional box with a real core and the memory store, for tests of the monitor. */
import {performance} from 'node:perf_hooks';
import type {GpuProvider, World} from '../../source/core/model/ports.js';
import type {Write} from '../../source/core/model/plan.js';
import type {GpuReading, Lease, Observation, QueueEntry, Requester} from '../../source/core/model/types.js';
import {createMemoryStore, type MemoryStore} from '../../source/store/memory/index.js';
import {testHost} from '../_helpers/machine/host.js';

/** 2026-11-20 14:32:07 UTC. */
export const sceneTime = Date.UTC(2026, 10, 20, 14, 32, 7) / 1000;

export const alice: Requester = {account: 'alice', uid: 1001, label: 'alice'};

export const utcTime = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(11, 19);

const host = testHost({
	hostname: 'gpu-box-3',
	machineId: 'machine',
	bootId: 'boot',
	self: {pid: 4321},
	account: {name: 'alice', uid: 1001},
});

export const gpuReading = (index: number, more: Partial<GpuReading> = {}): GpuReading => ({
	index,
	uuid: `GPU-${String(index).repeat(8)}-0000-0000-0000-000000000000`,
	name: 'NVIDIA H100 80GB HBM3',
	memoryUsedMiB: 0,
	memoryTotalMiB: 81_559,
	utilizationPercent: 0,
	temperatureCelsius: 30 + index,
	powerWatts: 70 + index,
	powerLimitWatts: 700,
	processes: [],
	unknown: {},
	...more,
});

/** The load of one process. */
export const busy = (
	index: number,
	user: string,
	commandLine: string,
	{gibibytes, percent}: {readonly gibibytes: number; readonly percent: number},
): GpuReading =>
	gpuReading(index, {
		memoryUsedMiB: gibibytes * 1024,
		utilizationPercent: percent,
		temperatureCelsius: 40 + Math.round(percent / 2.4),
		powerWatts: 70 + percent * 6,
		processes: [{pid: 81_234 + index, user, name: 'python3', commandLine, memoryUsedMiB: gibibytes * 1024}],
	});

export const lease = (user: string, more: Partial<Lease> = {}): Lease => ({
	user,
	actualUser: user,
	type: 'manual',
	startTime: sceneTime - 300,
	lastHeartbeat: sceneTime - 4,
	expiryTime: more.type === 'run' ? undefined : sceneTime + 4 * 3600,
	leaseId: `lease-${user}`,
	...more,
});

export const run = (user: string, more: Partial<Lease> = {}): Lease =>
	lease(user, {type: 'run', machine: 'machine', bootId: 'boot', job: {pid: 81_234}, ...more});

export const waiter = (user: string, more: Partial<QueueEntry> = {}): QueueEntry => ({
	id: `entry-${user}`,
	user,
	actualUser: user,
	requestedCount: 1,
	requestedIds: [],
	allocatedGpus: [],
	reservationType: 'run',
	enqueueTime: sceneTime - 180,
	lastHeartbeat: sceneTime,
	machine: 'machine',
	bootId: 'boot',
	holder: {pid: 99},
	...more,
});

export type Box = {
	readonly world: World;
	readonly store: MemoryStore;
	/** Readings for the next scans. */
	readings: readonly GpuReading[];
	/** If set, scans fail with this error. */
	failure: string | undefined;
	isSimulated: boolean;
	/** The number of scans. */
	scans: number;
	/** Changes the store as another program would, with an event. */
	readonly write: (...writes: readonly Write[]) => Promise<void>;
};

type Options = {
	readonly leases?: Readonly<Record<number, Lease>>;
	readonly readings?: readonly GpuReading[];
	readonly waiting?: readonly QueueEntry[];
	/** The store's clock. Fixed by default. */
	readonly now?: () => number;
};

export async function createBox(gpuCount: number, options: Options = {}): Promise<Box> {
	const {leases = {}, waiting = [], now = () => sceneTime} = options;
	const store = createMemoryStore({now});
	let ids = 0;
	const box: Box = {
		store,
		readings: options.readings ?? Array.from({length: gpuCount}, (_, index) => gpuReading(index)),
		failure: undefined,
		isSimulated: false,
		scans: 0,
		async write(...writes) {
			await store.commit({expect: [], writes, usage: [], audit: [], event: {kind: 'pool', gpus: []}, grants: false});
		},
		world: {
			store,
			host,
			clock: {
				monotonicMs: () => performance.now(),
				async sleep(milliseconds, signal) {
					await new Promise((resolve) => {
						const timer = setTimeout(resolve, milliseconds);
						signal?.addEventListener('abort', () => {
							clearTimeout(timer);
							resolve(undefined);
						});
					});
				},
				random: () => 0.5,
				uuid: () => `id-${++ids}`,
			},
			memoryThresholdMiB: 1024,
			get gpus(): GpuProvider {
				return provider;
			},
		},
	};
	const provider: GpuProvider = {
		name: 'nvidia',
		simulated: false,
		count: async () => gpuCount,
		async observe(): Promise<Observation> {
			box.scans++;
			return {
				provider: 'nvidia',
				takenAtMs: performance.now(),
				simulated: box.isSimulated,
				gpus: box.failure === undefined ? box.readings : [],
				failure: box.failure === undefined ? undefined : {message: box.failure},
				warnings: [],
			};
		},
	};
	await box.write({kind: 'pool', pool: {gpuCount, provider: 'nvidia'}});
	await box.write(
		...Object.entries(leases).map(([index, held]): Write => ({kind: 'lease', index: Number(index), lease: held})),
		...waiting.map((entry): Write => ({kind: 'join', entry})),
	);
	return box;
}

/** A box with GPUs in most states, for tests of whole screens. */
export const createScene = async (): Promise<Box> =>
	createBox(8, {
		leases: {
			0: run('alice', {startTime: sceneTime - 4330, note: 'eval 70B'}),
			3: lease('bob', {startTime: sceneTime - 24_000, expiryTime: sceneTime + 725}),
			4: run('carol', {startTime: sceneTime - 1870, leaseId: 'lease-carol'}),
			5: run('carol', {startTime: sceneTime - 1870, leaseId: 'lease-carol'}),
		},
		readings: [
			{
				...busy(0, 'alice', '/opt/venv/bin/vllm serve Llama-3-70B', {gibibytes: 60.2, percent: 84}),
				processes: [
					{
						pid: 81_234,
						user: 'alice',
						commandLine: '/opt/venv/bin/vllm serve Llama-3-70B',
						memoryUsedMiB: 61_645,
						utilizationPercent: 84,
						cpuPercent: 312,
						startTime: sceneTime - 4330,
					},
					{
						pid: 81_377,
						parentPid: 81_234,
						user: 'alice',
						name: 'ray::Worker',
						memoryUsedMiB: 410,
						utilizationPercent: 0,
						cpuPercent: 3,
						startTime: sceneTime - 4270,
					},
				],
			},
			gpuReading(1),
			gpuReading(2),
			gpuReading(3),
			busy(4, 'carol', 'python train.py --config big.yaml', {gibibytes: 74, percent: 97}),
			busy(5, 'carol', 'python train.py --config big.yaml', {gibibytes: 74, percent: 95}),
			busy(6, 'dave', '/usr/bin/jupyter-lab', {gibibytes: 19, percent: 41}),
			gpuReading(7, {
				failure: 'GPU is lost',
				memoryUsedMiB: undefined,
				utilizationPercent: undefined,
				temperatureCelsius: undefined,
				powerWatts: undefined,
				processes: undefined,
			}),
		],
		waiting: [
			waiter('erin', {requestedIds: [3], enqueueTime: sceneTime - 1330}),
			waiter('frank', {requestedIds: [4, 5], requestedCount: 2, enqueueTime: sceneTime - 190}),
		],
	});
