/**
Decides which leases and queue entries still have a live process. Visible processes are inspected, all others are judged
by their heartbeats. Unknown facts never end a lease. A heartbeat counts as missed only after a watch: some process has
waited for the heartbeat on a monotonic clock, and none came.
*/
import type {Host} from '../../model/ports.js';
import type {EndReason, Lease, LeftProcess, Liveness, QueueEntry, Silence, Snapshot} from '../../model/types.js';
import {holdingsIn} from './holdings.js';
import {isOfAgent} from './via.js';

export const leaseHeartbeatSeconds = 60;

export const entryHeartbeatSeconds = 30;

type Patience = {
	/** How old the last heartbeat must be before a process starts to watch for the next one. Measured by the store's clock, which can step. */
	readonly limitSeconds: number;
	/** How long the process watches, on its monotonic clock: one heartbeat interval and some tolerance. */
	readonly watchSeconds: number;
};

const leasePatience: Patience = {limitSeconds: 15 * 60, watchSeconds: leaseHeartbeatSeconds + 10};
const entryPatience: Patience = {limitSeconds: 2 * 60, watchSeconds: entryHeartbeatSeconds + 10};

/** After about two missed heartbeats, no GPUs are kept for a queue entry until the next heartbeat. The entry keeps its position. */
const answerPatience: Patience = {limitSeconds: entryHeartbeatSeconds + 10, watchSeconds: entryHeartbeatSeconds};

export const entryHeartbeatTimeoutSeconds = entryPatience.limitSeconds;

/** `other-boot`: the record has this machine's id and another boot id. It was written before a reboot, or on a clone of this machine. */
type Verdict = Liveness | 'other-boot';

/** Judges the processes behind a lease or an entry. One live process is enough. If a process cannot be seen, the result is `unknown`. */
export function judge(held: Pick<Lease, 'machine' | 'bootId' | 'holder' | 'job' | 'children'>, host: Host): Verdict {
	if (held.machine === undefined || held.machine !== host.machineId) {
		return 'unknown';
	}

	const isSameBoot = held.bootId === host.bootId && host.bootId !== undefined;
	if (!isSameBoot && held.bootId !== undefined && host.bootId !== undefined) {
		return 'other-boot';
	}

	// If the boot is unknown, a pid alone proves nothing. But the same pid with the same start time can hardly be a coincidence.
	const children = held.job === undefined ? [] : (held.children ?? []).map((child) => ({...held.job, ...child}));
	const processes = [held.holder, held.job, ...children]
		.filter((process) => process !== undefined)
		.filter(({startTicks}) => isSameBoot || startTicks !== undefined);
	if (processes.length === 0) {
		return 'unknown';
	}

	const answers = host.liveness(processes);
	const verdict = (['alive', 'stopped', 'unknown'] as const).find((answer) => answers.includes(answer)) ?? 'dead';
	return verdict === 'dead' && !isSameBoot ? 'unknown' : verdict;
}

export type Ending = {
	readonly reason: EndReason;
	readonly endTime: number;
	readonly left?: readonly LeftProcess[];
};

type Judgement<End> =
	| {readonly kind: 'holds'}
	| {readonly kind: 'ended'; readonly ending: End}
	| {readonly kind: 'watch'; readonly silence: Silence}
	/** The job is alive, but its wrapper is dead or stopped and sends no heartbeats. The process that finds this out sends a heartbeat instead. */
	| {readonly kind: 'vouch'};

const holds = {kind: 'holds'} as const;

/** Whether a heartbeat is too old. A heartbeat far in the future counts as old: the store's clock was set back, so its age is unknown. */
const isLongerAgo = (time: number, seconds: number, {now}: Snapshot, inFutureSeconds: number): boolean =>
	now - time > seconds || time - now > inFutureSeconds;

const lastSignOf = (held: Lease | QueueEntry): number =>
	held.lastHeartbeat ?? ('startTime' in held ? held.startTime : held.enqueueTime);

/** Whether two times belong to the same heartbeat. Stored times are rounded to seconds, and two heartbeats are much further apart. */
const isSameHeartbeat = (a: number | undefined, b: number | undefined): boolean =>
	a === b || (a !== undefined && b !== undefined && Math.abs(a - b) < 1);

/** Returns the current watch for a heartbeat. Undefined if a heartbeat has ended the watch. */
const watchOf = ({silence, lastHeartbeat}: Lease | QueueEntry): Silence | undefined =>
	silence !== undefined && isSameHeartbeat(silence.lastHeartbeat, lastHeartbeat) ? silence : undefined;

/** Seconds of store time after which a watch is overdue, so that a process with another monotonic clock may take over the watch. */
const handOverSeconds = ({watchSeconds}: Patience): number => 2 * watchSeconds;

/** `heard`: the holder counts as alive. `missed`: a watch has ended without a heartbeat. A {@link Silence} is a new watch, to be stored. */
type Hearing = 'heard' | 'missed' | Silence;

function hear(held: Lease | QueueEntry, snapshot: Snapshot, host: Host, patience: Patience): Hearing {
	const {limitSeconds, watchSeconds} = patience;
	if (!isLongerAgo(lastSignOf(held), limitSeconds, snapshot, watchSeconds)) {
		return 'heard';
	}

	const seconds = host.monotonic.seconds();
	if (seconds === undefined) {
		return 'heard';
	}

	const watch = watchOf(held);
	if (watch?.clock === host.monotonic.id && seconds >= watch.seconds) {
		// Heartbeats cannot arrive while the store is down, so the watch counts only from the start of the store.
		const watchedSeconds = Math.min(seconds - watch.seconds, snapshot.storeUptimeSeconds);
		return watchedSeconds >= watchSeconds ? 'missed' : 'heard';
	}

	const handOver = handOverSeconds(patience);
	if (
		watch !== undefined &&
		watch.clock !== host.monotonic.id &&
		!isLongerAgo(watch.since, handOver, snapshot, handOver)
	) {
		return 'heard';
	}

	return {
		clock: host.monotonic.id,
		seconds: Math.floor(seconds * 1000) / 1000,
		since: Math.floor(snapshot.now),
		lastHeartbeat: held.lastHeartbeat === undefined ? undefined : Math.floor(held.lastHeartbeat),
	};
}

function judgementOf<End>(hearing: Hearing, lost: End): Judgement<End> {
	switch (hearing) {
		case 'heard': {
			return holds;
		}

		case 'missed': {
			return {kind: 'ended', ending: lost};
		}

		default: {
			return {kind: 'watch', silence: hearing};
		}
	}
}

const startOf = (host: Host, {now}: Snapshot): number => now - host.uptimeSeconds();

/**
Returns whether a record with another boot id was written by this machine before a reboot. A clone also has this machine id and another boot id, but
its heartbeats continue after this machine's start. Host name and addresses cannot distinguish them, because they can change.
*/
const isBeforeReboot = (lastSign: number, snapshot: Snapshot, host: Host, {watchSeconds}: Patience): boolean =>
	lastSign < startOf(host, snapshot) && snapshot.now - lastSign > watchSeconds;

/** Judges the processes of a job. If the wrapper was killed before it could store the job's pid, the orphaned job keeps the GPUs. */
function judgeRun(lease: Lease, host: Host): Verdict {
	const verdict = judge(lease, host);
	return verdict === 'dead' && lease.job === undefined && lease.holder !== undefined
		? host.orphansOf(lease.holder)
		: verdict;
}

/** Returns when the lease of a dead job ended. The job is charged until one interval after its last heartbeat. */
const endOfDead = ({lastHeartbeat}: Lease, now: number): number =>
	lastHeartbeat === undefined ? now : Math.min(now, lastHeartbeat + leaseHeartbeatSeconds);

/** Whether an agent's lease has reached its end. No wrapper stops the agent's programs, so the lease ends on time even if the agent's server hangs. */
export const hasExpired = (lease: Lease, now: number): boolean =>
	lease.type === 'run' && isOfAgent(lease) && lease.endsBy !== undefined && lease.endsBy <= now;

function judgeRunLease(lease: Lease, snapshot: Snapshot, host: Host): Judgement<Ending> {
	const lastSign = lastSignOf(lease);
	const end = (reason: EndReason, endTime: number) => ({kind: 'ended', ending: {reason, endTime}}) as const;
	if (hasExpired(lease, snapshot.now)) {
		return end('expired', lease.endsBy!);
	}

	const verdict = judgeRun(lease, host);
	// Adopted processes have no wrapper that sends heartbeats, so a missing heartbeat proves nothing.
	const isAdopted = lease.holder === undefined && lease.lastHeartbeat === undefined && lease.job !== undefined;
	switch (verdict) {
		case 'alive':
		case 'stopped': {
			const {watchSeconds} = leasePatience;
			return !isAdopted && isLongerAgo(lastSign, watchSeconds, snapshot, watchSeconds) ? {kind: 'vouch'} : holds;
		}

		case 'dead': {
			return end('holder-died', endOfDead(lease, snapshot.now));
		}

		case 'other-boot':
		case 'unknown': {
			if (verdict === 'other-boot' && isBeforeReboot(lastSign, snapshot, host, leasePatience)) {
				// A lease without heartbeats does not show when its process ended. The process could run until the reboot.
				return end('reboot', lease.lastHeartbeat ?? startOf(host, snapshot));
			}

			return isAdopted
				? holds
				: judgementOf(hear(lease, snapshot, host, leasePatience), {
						reason: 'heartbeat-lost',
						endTime: Math.min(lastSign, snapshot.now),
					});
		}
	}
}

/** Returns when a manual lease ends by the store's clock. The Go program also stores a time for jobs and for GPUs of waiting requests, which is ignored. */
export const timedEndOf = ({type, partialQueueId, expiryTime}: Lease): number | undefined =>
	type === 'manual' && partialQueueId === undefined ? expiryTime : undefined;

/** Returns the store time at which a lease ends at the latest: the expiry time, or the time limit of the job. */
export const latestEndOf = (lease: Lease): number | undefined =>
	timedEndOf(lease) ?? (lease.type === 'run' && lease.partialQueueId === undefined ? lease.endsBy : undefined);

/** Judges a lease. The lease of a waiting request lives as long as its queue entry: see {@link judgeEntry}. */
export function judgeLease(lease: Lease, snapshot: Snapshot, host: Host): Judgement<Ending> {
	if (lease.partialQueueId !== undefined) {
		const isWaiting = snapshot.queue.some((record) => record.id === lease.partialQueueId && record.kind !== 'orphan');
		return isWaiting ? holds : {kind: 'ended', ending: {reason: 'queue-left', endTime: snapshot.now}};
	}

	if (lease.type === 'manual') {
		const end = timedEndOf(lease);
		return end !== undefined && end <= snapshot.now
			? {kind: 'ended', ending: {reason: 'expired', endTime: end}}
			: holds;
	}

	return judgeRunLease(lease, snapshot, host);
}

export function endingOf(lease: Lease, snapshot: Snapshot, host: Host): Ending | undefined {
	const judgement = judgeLease(lease, snapshot, host);
	return judgement.kind === 'ended' ? judgement.ending : undefined;
}

export function judgeEntry(entry: QueueEntry, snapshot: Snapshot, host: Host): Judgement<EndReason> {
	const end = (ending: EndReason) => ({kind: 'ended', ending}) as const;
	const verdict = judge(entry, host);
	// The watch for an entry that sends no heartbeats begins early, so that other entries need not wait long for this entry.
	const answer = hear(entry, snapshot, host, answerPatience);
	const watched = answer === 'missed' ? holds : judgementOf<EndReason>(answer, 'heartbeat-lost');
	switch (verdict) {
		case 'alive': {
			return watched;
		}

		case 'stopped': {
			return holds;
		}

		case 'dead': {
			return end('holder-died');
		}

		case 'other-boot':
		case 'unknown': {
			return verdict === 'other-boot' && isBeforeReboot(entry.lastHeartbeat, snapshot, host, entryPatience)
				? end('reboot')
				: watched.kind === 'watch'
					? watched
					: judgementOf<EndReason>(hear(entry, snapshot, host, entryPatience), 'heartbeat-lost');
		}
	}
}

/**
Returns whether an entry's process is not stopped and has missed no heartbeat. If not, no GPU is kept for the
entry, and others may take the GPUs that it holds.
*/
export const isAnswering = (entry: QueueEntry, snapshot: Snapshot, host: Host): boolean =>
	judge(entry, host) !== 'stopped' && hear(entry, snapshot, host, answerPatience) !== 'missed';

/** Returns for display how long an entry has sent no heartbeat. Undefined if the entry has missed none. */
export function silentSecondsOf(entry: QueueEntry, {now}: Pick<Snapshot, 'now'>): number | undefined {
	const watch = watchOf(entry);
	return watch !== undefined && now - watch.since >= answerPatience.watchSeconds
		? Math.max(0, now - entry.lastHeartbeat)
		: undefined;
}

const isHeartbeatDue = (lastSign: number, silence: Silence | undefined, now: number, seconds: number): boolean =>
	silence !== undefined || Math.abs(now - lastSign) >= seconds;

export const isLeaseHeartbeatDue = (lease: Lease, now: number): boolean =>
	isHeartbeatDue(lastSignOf(lease), lease.silence, now, leaseHeartbeatSeconds);

export const isEntryHeartbeatDue = ({silence}: QueueEntry, lastHeartbeat: number, now: number): boolean =>
	isHeartbeatDue(lastHeartbeat, silence, now, entryHeartbeatSeconds);

/** Returns the seconds until a lease or entry can end because of missing heartbeats. Negative if that time has passed. */
function silenceEndsIn(held: Lease | QueueEntry, {now}: Snapshot, host: Host, patience: Patience): number {
	const watch = watchOf(held);
	if (watch === undefined) {
		return lastSignOf(held) + patience.limitSeconds - now;
	}

	const seconds = host.monotonic.seconds();
	return watch.clock === host.monotonic.id && seconds !== undefined
		? watch.seconds + patience.watchSeconds - seconds
		: watch.since + handOverSeconds(patience) - now;
}

/** Returns the seconds until the next lease or entry in the snapshot can end, which is when a waiting command reads again. */
export function secondsToNextEnd(snapshot: Snapshot, host: Host): number {
	const {now} = snapshot;
	const ofLeases = holdingsIn(snapshot.gpus).map(({lease}) => {
		if (lease.partialQueueId !== undefined) {
			return Infinity;
		}

		const timedEnd = lease.type === 'manual' ? timedEndOf(lease) : isOfAgent(lease) ? lease.endsBy : undefined;
		return Math.min(
			(timedEnd ?? Infinity) - now,
			lease.type === 'manual' ? Infinity : silenceEndsIn(lease, snapshot, host, leasePatience),
		);
	});
	const ofEntries = snapshot.queue.flatMap((record) =>
		record.kind === 'entry'
			? [answerPatience, entryPatience].map((patience) => silenceEndsIn(record.entry, snapshot, host, patience))
			: [],
	);
	return Math.min(...[...ofLeases, ...ofEntries].filter((seconds) => seconds >= 0));
}

/** A heartbeat younger than this proves that its sender is alive. The time is one interval and some tolerance. */
const freshSeconds = leasePatience.watchSeconds;

/**
Returns a lease or entry of a clone of this machine: it has the same machine id, another boot id, and a fresh heartbeat long after this machine's
start. If the clock was wrong before a reboot, this machine's own record can look like a clone's record for up to a minute.
*/
export function cloneIn(snapshot: Snapshot, host: Host): Lease | QueueEntry | undefined {
	const isClone = (held: Lease | QueueEntry): boolean => {
		const {machine, bootId, lastHeartbeat} = held;
		const isOtherBoot =
			machine === host.machineId && bootId !== undefined && host.bootId !== undefined && bootId !== host.bootId;
		return (
			isOtherBoot &&
			lastHeartbeat !== undefined &&
			lastHeartbeat > startOf(host, snapshot) + leaseHeartbeatSeconds &&
			Math.abs(snapshot.now - lastHeartbeat) <= freshSeconds
		);
	};

	const leases = holdingsIn(snapshot.gpus).map(({lease}) => lease);
	const entries = snapshot.queue.flatMap((record) => (record.kind === 'entry' ? [record.entry] : []));
	return leases.find((lease) => isClone(lease)) ?? entries.find((entry) => isClone(entry));
}
