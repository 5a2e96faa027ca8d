/** The status and the queue in the API. The Go program's keys keep their meaning, and this API adds more. Unknown and empty values are absent. */
import {labelOf, ownerOf} from '../../core/rules/leases/ownership.js';
import {heldInstanceJson} from '../../format/instances.js';
import {shownStateOf, type ShareRow, type StatusRow} from '../../core/rules/pool/status.js';
import {
	latestTime,
	type GpuProcess,
	type GpuReading,
	type ProviderName,
	type QueueEntry,
} from '../../core/model/types.js';
import {longDuration, timestamp} from '../../format/text/durations.js';
import {reclaimTimeOf} from '../../format/idle-text.js';
import {needJson} from '../../format/json/need-json.js';
import {reasonJson} from '../../format/tables/queue-table.js';
import {gpuList} from '../../format/text/gpu-list.js';
import {needWordsOf} from '../../format/queue/waiting-progress.js';
import {modelName, partsJson} from '../../format/json/status-json.js';
import {unreservedNames, unreservedText, userText, validationText} from '../../format/status-labels.js';
import {isOver, shareOwner} from '../../format/shares.js';
import {shownVia} from '../../format/text/note.js';
import {stateText} from '../../format/states.js';
import {sanitize, shownNote} from '../../format/text/text.js';
import type {LiveState} from '../../core/live/live-view.js';
import type {QueueRow} from '../../core/rules/queue/queue-rows.js';
import {rowWith, type ShownCommands} from './commands.js';

const nanosecondsPerSecond = 1e9;

const time = (seconds: number | undefined): string | undefined =>
	seconds === undefined ? undefined : timestamp(Math.floor(seconds));

/** Returns the time that was `seconds` before `now`, or undefined if that time is too early for a date. */
const ago = (seconds: number | undefined, now: number): string | undefined =>
	seconds === undefined || seconds - now > latestTime ? undefined : time(now - seconds);

/** Returns the sanitized text, or undefined if it has no visible character. */
const text = (words: string | undefined): string | undefined => {
	const harmless = words === undefined ? '' : sanitize(words);
	return harmless === '' || harmless === '-' ? undefined : harmless;
};

const list = <Item>(items: readonly Item[] | undefined): readonly Item[] | undefined =>
	items === undefined || items.length === 0 ? undefined : items;

const processJson = (process: GpuProcess) => ({
	pid: process.pid,
	user: text(process.user),
	name: text(process.name),
	command: text(process.commandLine),
	memory_used_mb: process.memoryUsedMiB,
	utilization: process.utilizationPercent,
	cpu_percent: process.cpuPercent,
	host_memory_mb: process.hostMemoryMiB,
	container: text(process.containerId),
	start_time: time(process.startTime),
});

const readingJson = (reading: GpuReading | undefined) => ({
	// Omits the vendor, as the status of other hosts does.
	gpu_model: text(modelName(reading?.name)),
	uuid: text(reading?.uuid),
	memory_used_mb: reading?.memoryUsedMiB,
	memory_total_mb: reading?.memoryTotalMiB,
	utilization: reading?.utilizationPercent,
	temperature: reading?.temperatureCelsius,
	temperature_limit: reading?.temperatureLimitCelsius,
	power_w: reading?.powerWatts,
	power_limit_w: reading?.powerLimitWatts,
	fan_percent: reading?.fanPercent,
	clock_mhz: reading?.smClockMHz,
	throttled_by: list(reading?.throttleReasons),
	mig_instances: partsJson(reading),
});

const leaseJson = ({lease}: Pick<StatusRow, 'lease'>) => ({
	reservation_type: lease?.type,
	start_time: time(lease?.startTime),
	last_heartbeat: time(lease?.lastHeartbeat),
	expiry_time: time(lease?.expiryTime),
	ends_by: time(lease?.endsBy),
	is_suspended: lease?.isSuspended === true ? true : undefined,
	note: text(shownNote(lease?.note)),
	via: text(shownVia(lease?.via)),
	lease_id: lease?.leaseId,
	held_for_queue: lease?.partialQueueId,
});

const shareJson = (share: ShareRow, now: number) => ({
	user: shareOwner(share),
	...leaseJson(share),
	memory_mb: share.lease.memoryMiB,
	mig_instance: share.lease.mig && heldInstanceJson(share.lease.mig),
	is_gone: share.isGone,
	memory_used_mb: share.memoryUsedMiB,
	is_over: isOver(share) || undefined,
	over_since: ago(share.overSeconds, now),
	pids: share.processes.map(({pid}) => pid),
});

type GpuContext = {
	readonly provider: string;
	/** The time of the store's clock, in seconds. */
	readonly now: number;
	readonly commands: ShownCommands;
};

export const contextOf = ({snapshot}: LiveState, commands: ShownCommands): GpuContext => ({
	provider: snapshot?.pool?.provider ?? '',
	now: snapshot?.now ?? 0,
	commands,
});

/** Returns the JSON of one GPU. Omits values that change only because time passes, so that they cause no message. */
export const gpuJson = (row: StatusRow, context: GpuContext) => shownJson(rowWith(row, context.commands), context);

const shownJson = (row: StatusRow, {provider, now}: GpuContext) => ({
	gpu_id: row.index,
	// Set only for an engine that has GPUs of several machines, such as Slurm.
	node: text(row.reading?.place?.node),
	node_gpu_id: row.reading?.place?.gpu,
	// For clients of the Go program, which has no word for drained GPUs: `status` of a drained GPU is `ERROR`. Only `state` is `drained`.
	status: stateText[row.state],
	state: shownStateOf(row),
	user: text(userText(row)),
	...leaseJson(row),
	shares: row.shares?.map((share) => shareJson(share, now)),
	share_capacity_mb: row.capacityMiB,
	last_released: time(row.lastReleased),
	idle_since: ago(row.idleSeconds, now),
	reclaim_at: time(reclaimTimeOf(row)),
	beyond_limit: row.beyondLimit === undefined ? undefined : true,
	parked_since: time(row.parked?.since),
	keep_until: time(row.keepUntil),
	validation_info: text(validationText(row)),
	unreserved_users: list(unreservedNames(row)),
	process_info: unreservedText(row),
	error: text(row.problem),
	health: list(row.health.map(({words}) => words)),
	drain: row.drain && {
		reason: text(row.drain.reason),
		by: text(row.drain.by),
		since: time(row.drain.since),
	},
	model_info: row.model && {provider: text(row.model.provider), model: text(row.model.model)},
	provider,
	...readingJson(row.reading),
	squatters: list(row.squatters.map(({pid}) => pid)),
	// An empty list if the GPU has no processes. Absent if the processes are unknown.
	processes: row.reading?.processes && row.processes.map((process) => processJson(process)),
});

export type GpuJson = ReturnType<typeof gpuJson>;

/** Names of the providers in the Go program's API. Its command line and its pool use lower case. */
const providerNames: Readonly<Record<string, string>> = {
	nvidia: 'NVIDIA',
	amd: 'AMD',
	fake: 'Fake',
} satisfies Record<ProviderName, string>;

/** The answer to `GET /api/status`. Where the Go program's API differs from its command line, this answer follows that API. */
export const statusJson = (state: LiveState, commands: ShownCommands) =>
	state.rows.map((row) => {
		const gpu = gpuJson(row, contextOf(state, commands));
		return {
			...gpu,
			// Scripts treat `user` as the holder, so users without a reservation are listed in `unreserved_users` instead.
			user: row.state === 'unreserved' ? undefined : (text(row.label) ?? gpu.user),
			actual_user: row.label === undefined ? undefined : text(row.owner),
			validation_info: gpu.validation_info === undefined ? undefined : `[validated: ${gpu.validation_info}]`,
			provider: providerNames[gpu.provider] ?? gpu.provider,
			gpu_name: text(row.reading?.name),
			duration: row.heldSeconds === undefined ? undefined : Math.floor(row.heldSeconds) * nanosecondsPerSecond,
		};
	});

/** Returns the JSON of one queue entry. Omits values that change only because time passes, so that they cause no message. */
const waiterJson = (entry: QueueEntry, {position, held, isPossible, isUnknown, ...row}: QueueRow) => ({
	id: entry.id,
	user: entry.user,
	actual_user: labelOf(entry) === undefined ? undefined : ownerOf(entry),
	requested_count: Math.max(entry.requestedCount, entry.requestedIds.length),
	requested_ids: entry.requestedIds,
	need: entry.need && needJson(entry.need),
	wants: entry.need && needWordsOf(entry.need),
	eligible_gpus: entry.eligible,
	allocated_gpus: held,
	allocated_count: held.length,
	reservation_type: entry.reservationType,
	note: text(shownNote(entry.note)),
	via: text(shownVia(entry.via)),
	position,
	enqueue_time: time(entry.enqueueTime),
	expiry_duration: entry.expirySeconds === undefined ? undefined : entry.expirySeconds * nanosecondsPerSecond,
	wait_timeout: time(entry.waitTimeout),
	impossible: isPossible ? undefined : true,
	unknown: isUnknown ? true : undefined,
	...reasonJson(row),
});

const entriesOf = <Json>(queue: readonly QueueRow[], jsonOf: (entry: QueueEntry, row: QueueRow) => Json) =>
	queue.flatMap((row) => (row.entry === undefined ? [] : [jsonOf(row.entry, row)]));

/** Returns the JSON of the queue. Estimates are absolute times, and the requested GPUs are described as text. */
export const waitersJson = ({queue, snapshot}: LiveState) =>
	entriesOf(queue, (entry, row) => ({
		...waiterJson(entry, row),
		wanted_gpus: entry.requestedIds.length === 0 ? undefined : gpuList(entry.requestedIds),
		reclaim_at: time(soonestReturn(row)),
		served_at:
			row.estimateSeconds === undefined ? undefined : time(Math.round((snapshot?.now ?? 0) + row.estimateSeconds)),
	}));

/** Returns the earliest time at which a reservation that blocks the entry goes back to the pool early. Returns undefined if none goes back early. */
function soonestReturn({blockers}: QueueRow): number | undefined {
	const times = blockers.flatMap((blocker) => (blocker.kind === 'lease' ? (reclaimTimeOf(blocker) ?? []) : []));
	return times.length === 0 ? undefined : Math.min(...times);
}

export type WaiterJson = ReturnType<typeof waitersJson>[number];

export function queueJson({queue}: LiveState) {
	const entries = entriesOf(queue, (entry, row) => ({
		...waiterJson(entry, row),
		wait_time: longDuration(row.waitedSeconds),
		wait_time_seconds: Math.floor(row.waitedSeconds),
		estimate_seconds: row.estimateSeconds === undefined ? undefined : Math.ceil(row.estimateSeconds),
	}));
	return {
		entries,
		total_waiting: entries.length,
		total_gpus_requested: entries.reduce((sum, entry) => sum + entry.requested_count, 0),
		total_gpus_allocated: entries.reduce((sum, entry) => sum + entry.allocated_count, 0),
	};
}
