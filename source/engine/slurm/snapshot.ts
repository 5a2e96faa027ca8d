/** Converts the state of a cluster to the snapshot and the observation that every interface shows. Pure. */
import type {
	Drain,
	GpuPlace,
	GpuReading,
	GpuRecord,
	Lease,
	Observation,
	QueueEntry,
	QueueRecord,
	Snapshot,
} from '../../core/model/types.js';
import {latestEndOf} from '../../core/rules/leases/liveness.js';
import {holdingsIn} from '../../core/rules/leases/holdings.js';
import type {Grant} from '../../core/rules/request/request.js';
import type {SlurmJob} from './answers/jobs.js';
import {namedGpus} from './answers/gres.js';
import type {SlurmNode} from './answers/nodes.js';
import {reservationName} from './request-words.js';

export type ClusterState = {
	readonly nodes: readonly SlurmNode[];
	readonly jobs: readonly SlurmJob[];
	/** Seconds since the epoch, on the clock of this machine. */
	readonly now: number;
	/** When the state was read, on the monotonic clock of this process. */
	readonly readAtMs: number;
};

/** The name of the GPUs' vendor. Slurm does not report the vendor, so this name stands for all vendors. */
export const providerName = 'nvidia';

/** A GPU of the cluster. GPUs are numbered consecutively, node by node. */
type ClusterGpu = GpuPlace & {readonly index: number; readonly type: string | undefined; readonly of: SlurmNode};

export function clusterGpus(nodes: readonly SlurmNode[]): readonly ClusterGpu[] {
	return nodes
		.flatMap((node) =>
			node.gpus
				.flatMap(({type, count}) => Array.from({length: count}, () => type))
				.map((type, gpu) => ({node: node.name, gpu, type, of: node})),
		)
		.map((gpu, index) => ({...gpu, index}));
}

type NodesAndJobs = Pick<ClusterState, 'nodes' | 'jobs'>;

/** GPUs of a node that are in use, but not by a known job. */
type Hidden = {
	readonly ids: ReadonlySet<number>;
	/** How many more GPUs of the node are in use, without known numbers. */
	readonly unplaced: number;
	/** How many GPUs of `ids` and `unplaced` may belong to jobs that Slurm shows without GPU numbers. */
	readonly shown: number;
};

function hiddenOn({name, usedGpus, usedIds = []}: SlurmNode, {jobs}: NodesAndJobs): Hidden {
	const here = jobs.flatMap(({held}) => held).filter(({node}) => node === name);
	const shared = new Set(here.flatMap(({shards}) => shards.keys().toArray()));
	const named = here.reduce((sum, {gpus}) => sum + gpus.length, shared.size);
	const shown = here.reduce((sum, {unnamed}) => sum + unnamed, 0);
	const ids = new Set(usedIds).difference(new Set(here.flatMap((each) => namedGpus(each))));
	return {ids, unplaced: Math.max(0, Math.max(usedGpus, named + shown) - named - ids.size), shown};
}

/** Whether GPUs are in use by jobs that Slurm hides from this account (PrivateData). */
export const hasHiddenJobs = (state: NodesAndJobs): boolean =>
	state.nodes.some((node) => {
		const {ids, unplaced, shown} = hiddenOn(node, state);
		return ids.size + unplaced > shown;
	});

/** Names that salloc gives to a job without a command. */
const emptyNames = new Set([reservationName, 'no-shell', 'interactive', 'wrap']);

/** Whether a job has no command of its own, but is an allocation in which a user works. */
export const isReservationName = (name: string): boolean => name === '' || emptyNames.has(name);

const noteOf = ({comment, name}: SlurmJob): string | undefined =>
	comment === '' ? (isReservationName(name) ? undefined : name) : comment;

const longestTasks = 60;

const tasksText = (tasks: string): string =>
	tasks.length > longestTasks ? `${tasks.slice(0, longestTasks)}...` : tasks;

/** Returns the note of a waiting job. Adds the pending tasks if the job is an array, and the number of shards, whose size is unknown. */
function waitingNoteOf(job: SlurmJob): string | undefined {
	const {array, shards} = job;
	const parts = [
		...(array === undefined ? [] : [`tasks ${tasksText(array.tasks)}`]),
		...(shards === undefined ? [] : [`${shards.name}:${shards.count}`]),
	];
	const note = noteOf(job);
	return parts.length === 0 ? note : `${note ?? (array === undefined ? 'share' : 'array')} (${parts.join(', ')})`;
}

const isReservation = ({isBatch, command}: SlurmJob): boolean => !isBatch && command === '';

function leaseOf(job: SlurmJob): Lease {
	const {id, user, startTime, submitTime, endTime, isSuspended} = job;
	const common = {
		user,
		actualUser: user,
		startTime: startTime ?? submitTime,
		note: noteOf(job),
		leaseId: String(id),
		isSuspended,
	};
	return isReservation(job)
		? {...common, type: 'manual', expiryTime: endTime}
		: {...common, type: 'run', endsBy: endTime};
}

function entryOf(job: SlurmJob, now: number): QueueEntry {
	const isManual = isReservation(job);
	const {type} = job.gpus ?? job.shards ?? {};
	return {
		id: String(job.id),
		user: job.user,
		actualUser: job.user,
		requestedCount: job.gpus?.count ?? 1,
		requestedIds: [],
		need: type === undefined ? undefined : {models: [type]},
		allocatedGpus: [],
		reservationType: isManual ? 'manual' : 'run',
		...(isManual ? {expirySeconds: job.timeLimitSeconds} : {timeLimitSeconds: job.timeLimitSeconds}),
		note: waitingNoteOf(job),
		enqueueTime: job.submitTime,
		lastHeartbeat: now,
		verdict: {reason: job.reason, startsAt: job.startTime},
	};
}

/** Compares jobs in Slurm's order: by priority, then first come, first served. */
function byRank(a: SlurmJob, b: SlurmJob): number {
	return (
		[b.priority - a.priority, a.submitTime - b.submitTime, a.id - b.id].find((difference) => difference !== 0) ?? 0
	);
}

export const waitingJobs = ({jobs}: Pick<ClusterState, 'jobs'>): readonly SlurmJob[] =>
	jobs
		.filter(({state, gpus, shards}) => state === 'pending' && (gpus !== undefined || shards !== undefined))
		.toSorted(byRank);

/** A job on a GPU. `isShare` means that it does not have the whole GPU. */
type Holder = {readonly lease: Lease; readonly isShare: boolean};

function holders(jobs: readonly SlurmJob[]): ReadonlyMap<string, readonly Holder[]> {
	const held = new Map<string, Holder[]>();
	for (const job of jobs) {
		for (const {node, gpus, shards} of job.held) {
			for (const gpu of new Set([...gpus, ...shards.keys()])) {
				const key = `${node}:${gpu}`;
				held.set(key, [...(held.get(key) ?? []), {lease: leaseOf(job), isShare: !gpus.includes(gpu)}]);
			}
		}
	}

	return held;
}

export function snapshotOf(state: ClusterState): Snapshot {
	const {nodes, jobs, now} = state;
	const held = holders(jobs);
	const gpus = clusterGpus(nodes);
	const drains = gpus.flatMap(({index, of: {trouble}}): ReadonlyArray<readonly [number, Drain]> =>
		trouble?.kind === 'drained' ? [[index, {reason: trouble.reason, by: trouble.by, since: trouble.since}]] : [],
	);
	return {
		now,
		storeUptimeSeconds: Infinity,
		pool: {gpuCount: gpus.length, provider: providerName},
		gpus: gpus.map(({index, node, gpu}): GpuRecord => {
			const [first, ...others] = held.get(`${node}:${gpu}`) ?? [];
			if (first === undefined) {
				return {kind: 'free', index, raw: undefined};
			}

			return first.isShare
				? {kind: 'shared', index, raw: '', shares: [first, ...others].map(({lease}) => lease)}
				: {kind: 'leased', index, raw: '', lease: first.lease};
		}),
		queue: waitingJobs(state).map((job): QueueRecord => ({
			kind: 'entry',
			id: String(job.id),
			raw: '',
			entry: entryOf(job, now),
		})),
		drains: new Map(drains),
		policy: new Map(),
		alerts: [],
		overuse: [],
		baselines: new Map(),
		stored: {machine: undefined, drains: undefined, alerts: undefined, policy: undefined},
		revision: {count: 0, base: 0, run: 'slurm', since: undefined, raw: undefined},
		lastUsed: new Map(),
	};
}

const counted = (count: number): string => `${count} GPU${count === 1 ? '' : 's'}`;

export function grantOf(state: ClusterState, jobId: number): Grant | undefined {
	const held = holdingsIn(snapshotOf(state).gpus).filter(({lease}) => lease.leaseId === String(jobId));
	const [first] = held;
	if (first === undefined) {
		return undefined;
	}

	const gpus = clusterGpus(state.nodes);
	const heldGpus = held.map(({index}) => gpus[index]!);
	return {
		kind: 'granted',
		gpus: held.map(({index}) => index),
		leaseId: String(jobId),
		startTime: first.lease.startTime,
		endsBy: latestEndOf(first.lease),
		place: {node: heldGpus[0]!.node, gpuIds: heldGpus.map(({gpu}) => gpu)},
	};
}

/** Seconds after which the cleanup of a node counts as slow. Usually a cleanup takes a moment. */
const clearingSeconds = 5;

/** Returns the jobs that ended more than {@link clearingSeconds} ago and whose nodes are still being cleaned up, by node. */
const clearingJobs = ({jobs, now}: ClusterState): ReadonlyMap<string, number> =>
	new Map(
		jobs.flatMap(({id, clearing = [], endTime = now}) =>
			now - endTime < clearingSeconds ? [] : clearing.map((node) => [node, id] as const),
		),
	);

/** Returns the known facts about each GPU, without scanning its node. A GPU is free only if Slurm says so and its node can start jobs. */
export function observationOf(state: ClusterState): Observation {
	const held = holders(state.jobs);
	const hidden = new Map(state.nodes.map((node) => [node.name, hiddenOn(node, state)]));
	const clearing = clearingJobs(state);
	const failureOf = (node: string, gpu: number, {trouble, closed}: SlurmNode): string | undefined => {
		if (trouble?.kind === 'down') {
			return trouble.words;
		}

		if (held.has(`${node}:${gpu}`)) {
			return undefined;
		}

		const {ids, unplaced} = hidden.get(node)!;
		if (ids.has(gpu)) {
			return `a job has GPU ${gpu} of ${node}, but Slurm does not say which job`;
		}

		if (unplaced > 0) {
			return `jobs have ${counted(unplaced)} of ${node}, but Slurm does not say which`;
		}

		const jobId = clearing.get(node);
		return jobId === undefined ? closed : `node ${node} is still cleaning up after job ${jobId}, which has ended`;
	};

	return {
		provider: providerName,
		takenAtMs: state.readAtMs,
		simulated: false,
		gpus: clusterGpus(state.nodes).map(({index, node, gpu, type, of}): GpuReading => ({
			index,
			name: type,
			place: {node, gpu},
			processes: undefined,
			isUnread: true,
			failure: failureOf(node, gpu, of),
			unknown: {},
		})),
		warnings: [],
	};
}
