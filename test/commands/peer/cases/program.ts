/** Parts of the Go program in its tests: simulated GPUs, the table of `status`, commands and constants. */
import {globalFlags} from '../../../../source/command-line/flags.js';
import {commandNames, findCommand} from '../../../../source/command-line/find-command.js';
import {leaseHeartbeatSeconds} from '../../../../source/core/rules/leases/liveness.js';
import {statusRows} from '../../../../source/core/rules/pool/status.js';
import type {GpuReading, GpuRecord} from '../../../../source/core/model/types.js';
import {statusTable} from '../../../../source/format/tables/status-table.js';
import {createPaint} from '../../../../source/format/text/paint.js';
import {createSimulatedProvider} from '../../../../source/gpu/simulated/simulated.js';
import {keys} from '../../../../source/store/redis/keys.js';
import {idleReading, observationOf, snapshotWith} from '../../../_helpers/world.js';
import {isFreedAfter} from './allocation.js';
import type {Case, Group} from './group.js';

const now = 100_000;

async function simulatedCases(): Promise<readonly Case[]> {
	let count = 2;
	const provider = createSimulatedProvider({
		gpuCount: async () => count,
		leases: async () => [],
		monotonicMs: () => 0,
		nowSeconds: () => now,
	});
	const seenOf = async (gpuCount: number): Promise<number> => {
		count = gpuCount;
		const {gpus} = await provider.observe();
		return gpus.length;
	};

	const {gpus, failure} = await provider.observe();
	const [gpu] = gpus;
	return [
		['its name', 'fake', provider.name],
		['it is there without a tool', undefined, failure],
		['its processes and users', [], gpu?.processes],
		['its count, and another', [2, 8], [await seenOf(2), await seenOf(8)]],
		['GPUs are numbered from 0', [0, 1], gpus.map(({index}) => index)],
		['model and memory of a GPU', ['Fake GPU', 0], [gpu?.name, gpu?.memoryUsedMiB]],
	];
}

const free: GpuRecord = {kind: 'free', index: 0, raw: undefined, lastReleased: now - 300};

const held: GpuRecord = {
	kind: 'leased',
	index: 1,
	raw: '{}',
	lease: {user: 'testuser', actualUser: 'testuser', type: 'manual', startTime: now - 7200, expiryTime: now + 3600},
};

const used: GpuReading = {
	...idleReading(2),
	memoryUsedMiB: 2048,
	processes: [{pid: 1234, name: 'python', user: 'baduser'}],
};

function tableOf(serving?: string): string {
	const snapshot = snapshotWith({now, gpus: [free, held, {...free, index: 2}]});
	const busy = {
		...idleReading(1),
		memoryUsedMiB: 2048,
		processes: [{pid: 7, name: 'python', user: 'testuser', commandLine: serving}],
	};
	const rows = statusRows(snapshot, observationOf([idleReading(0), busy, used]), 1024);
	return statusTable(rows, createPaint(false, {}), undefined);
}

const has = (text: string, words: readonly string[]): readonly string[] => words.filter((word) => text.includes(word));

function tableCases(): readonly Case[] {
	const words = ['GPU', 'STATUS', 'AVAILABLE', 'IN_USE', 'UNRESERVED', 'testuser', 'baduser'];
	const model = 'meta-llama/Llama-2-7b-chat-hf';
	return [
		['one of each state', words, has(tableOf(), words)],
		['no model, no column for it', [], has(tableOf(), ['MODEL'])],
		['a model', ['MODEL', model], has(tableOf(`vllm serve ${model}`), ['MODEL', model])],
	];
}

/** The commands of its test, with their flags. */
const structure: Readonly<Record<string, readonly string[]>> = {
	admin: ['gpus', 'force'],
	status: [],
	run: ['gpus'],
	reserve: ['gpus', 'duration'],
	release: [],
};

async function structureCases(): Promise<readonly Case[]> {
	const own = await Promise.all(
		Object.entries(structure).map(async ([name, flags]): Promise<Case> => {
			const command = await findCommand(name);
			return [`the command ${name}`, flags, flags.filter((flag) => Object.hasOwn(command.flags, flag))];
		}),
	);
	const redis = ['redis-host', 'redis-port', 'redis-db'];
	const limits = [300, 900];
	const freed = await Promise.all(
		limits.map(async (seconds) => !(await isFreedAfter(seconds - 1)) && (await isFreedAfter(seconds + 1))),
	);
	return [
		...own,
		['flags of every command', redis, redis.filter((flag) => Object.hasOwn(globalFlags, flag))],
		['no command completion', false, commandNames.includes('completion')],
		['its keys', ['canhazgpu:gpu_count', 'canhazgpu:allocation_lock'], [keys.gpuCount, keys.allocationLock]],
		['seconds between two heartbeats', 60, leaseHeartbeatSeconds],
		['seconds without a heartbeat until a job counts as lost', 300, limits.find((_, index) => freed[index])],
	];
}

export const programGroups: readonly Group[] = [
	{
		name: 'Fake provider',
		origin: 'its tests',
		row: 'Fake provider',
		cases: simulatedCases,
		differences: {'model and memory of a GPU': 'they are those of a real one, so that every state can be tried'},
	},
	{name: 'status table', origin: 'its tests', row: 'status table', cases: tableCases},
	{
		name: 'structure, constants',
		origin: 'its tests',
		row: 'structure, constants',
		cases: structureCases,
		differences: {
			'seconds without a heartbeat until a job counts as lost':
				'15 minutes, as its documentation says: a busy machine is not a dead one',
		},
		understoodHere: ['no command completion'],
	},
];
