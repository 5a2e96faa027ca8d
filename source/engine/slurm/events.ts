/** Derives events from the controller's jobs, and older events from the database. The controller keeps ended jobs for MinJobAge (5 minutes). Pure. */
import type {AuditEntry, AuditQuery} from '../../core/model/types.js';
import type {EndedJob} from './accounting.js';
import type {SlurmNode} from './answers/nodes.js';
import {clusterGpus} from './snapshot.js';

/** Orders events of one second: a job joins before it is granted, and ends last. */
const ranks = {joined: 1, granted: 2, ended: 3, left: 3, refused: 3} as const;

const endText: Readonly<Record<string, string>> = {
	COMPLETED: 'exited',
	FAILED: 'exited',
	TIMEOUT: 'timeout',
	CANCELLED: 'released',
	NODE_FAIL: 'its node failed',
	OUT_OF_MEMORY: 'out of memory',
	PREEMPTED: 'preempted',
};

function eventsOf(job: EndedJob, indexes: ReadonlyMap<string, number>): readonly AuditEntry[] {
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
	const hasEnded = state === 'ended' && endTime !== undefined;
	const isRefused = hasEnded && !hasBegun && stateWord === 'FAILED';
	const leftQueueTime = hasBegun ? startTime : isRefused ? endTime : Infinity;
	return [
		...(leftQueueTime - submitTime < 1 ? [] : [event('joined', submitTime, {entryId: String(id), count})]),
		...(hasBegun ? [event('granted', startTime, {gpus, count})] : []),
		...(hasEnded && hasBegun
			? [event('ended', endTime, {count, until: endTime, reason: endText[stateWord] ?? stateWord.toLowerCase()})]
			: []),
		// A job that ended without having begun had no GPUs. It left the queue or was refused.
		...(hasEnded && !hasBegun ? [event(isRefused ? 'refused' : 'left', endTime, {count})] : []),
	];
}

/** Maximum number of ids to remember, more than the number of jobs that are known at once. */
const mostRemembered = 20_000;

type EventOrder = {
	/** Returns the events in the order of their discovery: those after the event `afterId`, or all. `events` are all known events, sorted by id. */
	readonly behind: (events: readonly AuditEntry[], afterId: string | undefined) => readonly AuditEntry[];
};

/** Orders events by the read that first contained them, then by id. Ids alone are not enough, because two jobs can begin and end within a second. */
export function createEventOrder(): EventOrder {
	let readings = 0;
	let firstSeen = new Map<string, number>();
	return {
		behind(events, afterId) {
			readings++;
			if (firstSeen.size > mostRemembered) {
				const known = new Set(events.map(({id}) => id));
				firstSeen = new Map([...firstSeen].filter(([id]) => known.has(id)));
			}

			for (const {id} of events) {
				if (!firstSeen.has(id)) {
					firstSeen.set(id, readings);
				}
			}

			if (afterId === undefined) {
				return events;
			}

			const after = firstSeen.get(afterId);
			const readingOf = ({id}: AuditEntry): number => firstSeen.get(id)!;
			return after === undefined
				? events.filter(({id}) => id > afterId)
				: events
						.filter((event) => readingOf(event) > after || (readingOf(event) === after && event.id > afterId))
						.toSorted((a, b) => readingOf(a) - readingOf(b));
		},
	};
}

/** Returns the events of jobs with GPUs, oldest first. With `afterId`, in the order of their discovery. */
export function recentEvents(
	jobs: readonly EndedJob[],
	nodes: readonly SlurmNode[],
	{fromTime = 0, afterId, newest = Infinity}: AuditQuery,
	order: EventOrder = createEventOrder(),
): readonly AuditEntry[] {
	const indexes = new Map(clusterGpus(nodes).map(({node, gpu, index}) => [`${node}:${gpu}`, index]));
	const events = jobs
		.filter(({gpus, shards, held}) => gpus !== undefined || shards !== undefined || held.length > 0)
		.flatMap((job) => eventsOf(job, indexes))
		.filter(({time}) => time >= fromTime)
		.toSorted((a, b) => a.id.localeCompare(b.id));
	const following = order.behind(events, afterId);
	return newest === Infinity ? following : following.slice(-newest);
}
