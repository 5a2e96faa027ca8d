/**
What happened, as far as the controller remembers it, and before that as the database has it. The controller keeps a job that ended for MinJobAge,
five minutes unless slurm.conf says otherwise. Pure.
*/
import type {AuditEntry, AuditQuery} from '../../core/model/types.js';
import type {EndedJob} from './answers/accounting.js';
import type {SlurmJob} from './answers/jobs.js';
import type {SlurmNode} from './answers/nodes.js';
import {clusterGpus} from './picture.js';

/** Orders events of one second: a job joins before it is granted, and ends last. */
const ranks = {joined: 1, granted: 2, ended: 3} as const;

const endWords: Readonly<Record<string, string>> = {
	COMPLETED: 'exited',
	FAILED: 'exited',
	TIMEOUT: 'timeout',
	CANCELLED: 'released',
	NODE_FAIL: 'its node failed',
	OUT_OF_MEMORY: 'out of memory',
	PREEMPTED: 'preempted',
};

type TimedJob = EndedJob & Partial<Pick<SlurmJob, 'shards'>>;

function eventsOf(job: TimedJob, indexes: ReadonlyMap<string, number>): readonly AuditEntry[] {
	const {id, user, submitTime, startTime, endTime, state, stateWord} = job;
	const gpus = job.held
		.flatMap(({node, gpus: own, shards}) => [...own, ...shards.keys()].map((gpu) => indexes.get(`${node}:${gpu}`)))
		.filter((index) => index !== undefined);
	const event = (kind: keyof typeof ranks, time: number, more: Partial<AuditEntry>): AuditEntry => ({
		id: `${String(Math.floor(time)).padStart(12, '0')}-${String(id).padStart(10, '0')}-${ranks[kind]}`,
		time,
		kind,
		account: user,
		gpus: [],
		leaseId: String(id),
		...more,
	});
	const count = job.gpus?.count ?? 1;
	const hasBegun = startTime !== undefined && state !== 'pending';
	return [
		...(hasBegun && startTime - submitTime < 1 ? [] : [event('joined', submitTime, {entryId: String(id), count})]),
		...(hasBegun ? [event('granted', startTime, {gpus, count})] : []),
		...(state === 'ended' && endTime !== undefined
			? [event('ended', endTime, {count, until: endTime, reason: endWords[stateWord] ?? stateWord.toLowerCase()})]
			: []),
	];
}

/** The events of jobs with GPUs, oldest first. */
export function recentEvents(
	jobs: readonly TimedJob[],
	nodes: readonly SlurmNode[],
	{fromTime = 0, afterId = '', newest = Infinity}: AuditQuery,
): readonly AuditEntry[] {
	const indexes = new Map(clusterGpus(nodes).map(({node, gpu, index}) => [`${node}:${gpu}`, index]));
	const events = jobs
		.filter(({gpus, shards, held}) => gpus !== undefined || shards !== undefined || held.length > 0)
		.flatMap((job) => eventsOf(job, indexes))
		.filter(({time, id}) => time >= fromTime && id > afterId)
		.toSorted((a, b) => a.id.localeCompare(b.id));
	return newest === Infinity ? events : events.slice(-newest);
}
