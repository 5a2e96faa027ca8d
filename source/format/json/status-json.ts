/** `status --json`: the Go program's keys, and more keys. Unknown values are absent. `processes`, and `mig_instances` in MIG mode, can be empty. */
import {latestEndOf} from '../../core/rules/leases/liveness.js';
import {cautionOf, type ShareRow, type StatusRow} from '../../core/rules/pool/status.js';
import type {GpuProcess, GpuReading, Lease, MigInstance, Observation} from '../../core/model/types.js';
import {longDuration, optionalTimestamp, timestamp} from '../text/durations.js';
import {reclaimTimeOf} from '../idle-text.js';
import {heldInstanceJson} from '../instances.js';
import {shownVia} from '../text/note.js';
import {absentWhenEmpty} from '../text/json.js';
import {sanitize, shownNote} from '../text/text.js';
import {detailText, unreservedNames, unreservedText, validationText} from '../status-labels.js';
import {stateText} from '../states.js';

const absentWhenBlank = (text: string): string | undefined => (text === '' ? undefined : text);

const processJson = (process: GpuProcess) => ({
	pid: process.pid,
	user: process.user,
	name: process.name,
	command: process.commandLine,
	memory_used_mb: process.memoryUsedMiB,
	utilization: process.utilizationPercent,
	start_time: optionalTimestamp(process.startTime),
	parent_pid: process.parentPid,
	cpu_percent: process.cpuPercent,
	host_memory_mb: process.hostMemoryMiB,
	container_id: process.containerId,
});

const leftJson = ({left}: StatusRow) =>
	left && {
		user: sanitize(left.account),
		lease_id: left.leaseId,
		ended: timestamp(left.endedAt),
		pids: left.processes.map(({pid}) => pid),
	};

const partJson = (part: MigInstance) => ({
	instance: part.number,
	profile: part.profile,
	gpu_instance_id: part.gpuInstanceId,
	compute_instance_id: part.computeInstanceId,
	uuid: part.uuid,
	memory_used_mb: part.memoryUsedMiB,
	memory_total_mb: part.memoryTotalMiB,
});

/** Returns the MIG instances. Empty for a GPU in MIG mode without instances. Absent for a whole GPU, and if unknown. */
export const partsJson = ({isMigEnabled, migInstances}: Partial<GpuReading> = {}) =>
	isMigEnabled === true ? migInstances?.map((part) => partJson(part)) : undefined;

const drainJson = ({drain}: StatusRow) =>
	drain && {reason: drain.reason, by: drain.by, since: optionalTimestamp(drain.since)};

/** Returns the name without the vendor, as the Go program prints it: `H100 80GB HBM3`. */
export const modelName = (name: string | undefined): string | undefined => name?.replace(/^NVIDIA /v, '');

/** Returns the Go program's text for use without a reservation. `process_info` says how the GPU is used. */
const withoutReservation = (row: StatusRow): string =>
	['WITHOUT RESERVATION', cautionOf(row)].filter((words) => words !== undefined).join(', ');

const leaseJson = (lease: Lease, remainingSeconds: number | undefined) => ({
	type: lease.type.toUpperCase(),
	note: shownNote(lease.note),
	via: shownVia(lease.via),
	last_heartbeat: optionalTimestamp(lease.lastHeartbeat),
	expiry_time: optionalTimestamp(lease.expiryTime),
	lease_id: lease.leaseId,
	since: optionalTimestamp(lease.startTime),
	ends_by: optionalTimestamp(latestEndOf(lease)),
	remaining_seconds: remainingSeconds === undefined ? undefined : Math.floor(remainingSeconds),
	held_for_queue: lease.partialQueueId,
});

const ownerJson = ({owner, label}: {readonly owner?: string; readonly label?: string | undefined}) => ({
	user: owner === undefined ? undefined : sanitize(label ?? owner),
	actual_user: owner === undefined ? undefined : sanitize(owner),
});

const shareJson = ({lease, heldSeconds, remainingSeconds, idleSeconds, memoryUsedMiB, ...share}: ShareRow) => ({
	...ownerJson(share),
	duration: longDuration(heldSeconds),
	...leaseJson(lease, remainingSeconds),
	memory_mb: lease.memoryMiB,
	mig_instance: lease.mig && heldInstanceJson(lease.mig),
	is_gone: share.isGone,
	memory_used_mb: memoryUsedMiB,
	over_seconds: share.overSeconds === undefined ? undefined : Math.floor(share.overSeconds),
	idle_seconds: idleSeconds === undefined ? undefined : Math.floor(idleSeconds),
	model: share.model && {provider: share.model.provider, model: share.model.model},
	pids: share.processes.map(({pid}) => pid),
});

const placeJson = ({reading: {place} = {}}: {readonly reading?: Pick<GpuReading, 'place'>}) =>
	place && {node: place.node, node_gpu_id: place.gpu};

const rowJson = (row: StatusRow, {simulated}: Observation) => ({
	gpu_id: row.index,
	...placeJson(row),
	status: stateText[row.state],
	// Users without a reservation are in `unreserved_users`, because scripts take `user` for the holder.
	...ownerJson(row),
	duration: row.heldSeconds === undefined ? undefined : longDuration(row.heldSeconds),
	...(row.lease && leaseJson(row.lease, row.remainingSeconds)),
	shares: row.shares?.map((share) => shareJson(share)),
	share_capacity_mb: row.capacityMiB,
	details: absentWhenBlank(row.state === 'unreserved' ? withoutReservation(row) : detailText(row)),
	validation: validationText(row) === '-' ? undefined : validationText(row),
	model: row.model && {provider: row.model.provider, model: row.model.model},
	gpu_model: modelName(row.reading?.name),
	gpu_name: row.reading?.name,
	last_released: optionalTimestamp(row.lastReleased),
	unreserved_users: absentWhenEmpty(unreservedNames(row)),
	process_info: unreservedText(row),
	left_by_job: leftJson(row),
	error: row.problem,
	uuid: row.reading?.uuid,
	memory_used_mb: row.reading?.memoryUsedMiB,
	memory_total_mb: row.reading?.memoryTotalMiB,
	utilization: row.reading?.utilizationPercent,
	temperature: row.reading?.temperatureCelsius,
	power_w: row.reading?.powerWatts,
	mig_instances: partsJson(row.reading),
	drained: drainJson(row),
	health: absentWhenEmpty(row.health.map(({words}) => words)),
	idle_seconds: row.idleSeconds === undefined ? undefined : Math.floor(row.idleSeconds),
	idle_since: optionalTimestamp(row.warning?.since),
	reclaim_at: optionalTimestamp(reclaimTimeOf(row)),
	beyond_limit: row.beyondLimit === undefined ? undefined : true,
	parked_since: optionalTimestamp(row.parked?.since),
	keep_until: optionalTimestamp(row.keepUntil),
	processes: row.reading?.processes && row.processes.map((process) => processJson(process)),
	simulated: simulated || undefined,
});

export const statusJson = (rows: readonly StatusRow[], observation: Observation) =>
	rows.map((row) => rowJson(row, observation));
