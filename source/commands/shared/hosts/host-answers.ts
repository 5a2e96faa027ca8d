import type {HostAnswer} from '../../../core/rules/hosts/choose-host.js';
import type {OwnLimits} from '../../../core/model/other-hosts.js';
import type {GpuReading, Observation} from '../../../core/model/types.js';
import {stateText} from '../../../format/states.js';
import type {JsonRow} from '../../../format/tables/host-tables.js';
import type {App} from '../../../app/contract.js';
import {ownLimits} from '../own-limits.js';
import {withWorld} from '../with-world.js';
import {localRows} from './local-rows.js';
import {answerFrom, askHosts} from './ask-hosts.js';

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const number = (value: unknown): number | undefined =>
	typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

function placeOf({node, node_gpu_id: gpu}: JsonRow): GpuReading['place'] {
	const [name, index] = [text(node), number(gpu)];
	return name === undefined || index === undefined ? undefined : {node: name, gpu: index};
}

/** Reads the GPU of a JSON row of `status`. The Go program prints the model without the vendor, and does not print the memory. */
const readingOf = (row: JsonRow): GpuReading => ({
	index: Number(row['gpu_id']),
	name: text(row['gpu_name']) ?? text(row['gpu_model']),
	memoryTotalMiB: number(row['memory_total_mb']),
	computeCapability: text(row['compute_capability']),
	isMigEnabled: Array.isArray(row['mig_instances']),
	place: placeOf(row),
	processes: undefined,
	unknown: {},
});

/** Returns the seconds until the GPU is free, or 0 if it is free now. Undefined if unknown, or if the GPU is out of service. */
function freeInOf(row: JsonRow): number | undefined {
	if (row['drained'] !== undefined || row['status'] === stateText.error) {
		return undefined;
	}

	return row['status'] === stateText.available ? 0 : number(row['remaining_seconds']);
}

/** Builds the answer of a host from the rows of its `status --json`. The texts are untrusted, and the rows can be from any version. */
function answerOf(
	host: string,
	rows: readonly JsonRow[],
	waitingCount: number | undefined,
	{room, mostSeconds}: OwnLimits = {},
): HostAnswer {
	const observation: Observation = {
		provider: 'fake',
		takenAtMs: 0,
		simulated: false,
		gpus: rows.map((row) => readingOf(row)),
		warnings: [],
	};
	const freeIn = rows.map((row) => [Number(row['gpu_id']), freeInOf(row)] as const);
	return {
		host,
		observation,
		freeInSeconds: new Map(
			freeIn.flatMap(([index, seconds]) => (seconds === undefined ? [] : [[index, seconds] as const])),
		),
		waitingCount,
		room,
		mostSeconds,
	};
}

const ownAnswer = async (app: App): Promise<HostAnswer> =>
	withWorld(app, {willScan: true, keepReconnecting: false}, async (world) => {
		const [rows, snapshot] = [await localRows(world), await world.store.read()];
		return answerOf(app.host.hostname, rows, snapshot.queue.length, ownLimits(app, world, snapshot));
	});

async function otherAnswer(app: App, host: string, signal: AbortSignal | undefined): Promise<HostAnswer> {
	const [rows, queue] = await Promise.all([
		app.remoteStatus(host, signal),
		// Older versions have no queue command.
		answerFrom(host, async () => app.remoteQueue(host, signal)),
	]);
	return 'error' in queue ? answerOf(host, rows, undefined) : answerOf(host, rows, queue.entries.length, queue);
}

/** Asks this host and the others about their GPUs. Each host answers or fails within 10 s. */
export const askForGpus = async (
	app: App,
	others: readonly string[],
	signal?: AbortSignal,
): Promise<readonly HostAnswer[]> =>
	askHosts(app, others, {own: async () => ownAnswer(app), other: async (host) => otherAnswer(app, host, signal)});
