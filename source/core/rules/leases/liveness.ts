/**
Decides which holders are alive. Visible processes are judged directly, all others by their heartbeats. Unknown facts
never end a lease. A heartbeat counts as missed only if somebody watched for it on a monotonic clock.
*/
import type {Host} from '../../model/ports.js';
import type {EndReason, Lease, LeftProcess, Liveness, QueueEntry, Silence, Snapshot} from '../../model/types.js';
import {holdingsIn} from './holdings.js';

export const leaseHeartbeatSeconds = 60;

export const entryHeartbeatSeconds = 30;

type Patience = {
	/** Silence after which somebody starts to watch. Measured by the store's clock, which can step. */
	readonly limitSeconds: number;
	/** Length of the watch on the monotonic clock: one heartbeat interval and some tolerance. */
	readonly watchSeconds: number;
};

const leasePatience: Patience = {limitSeconds: 15 * 60, watchSeconds: leaseHeartbeatSeconds + 10};
const entryPatience: Patience = {limitSeconds: 2 * 60, watchSeconds: entryHeartbeatSeconds + 10};

/** When a queue entry stops blocking others: after about two missed heartbeats. The entry keeps its position, and claims again after a heartbeat. */
const answerPatience: Patience = {limitSeconds: entryHeartbeatSeconds + 10, watchSeconds: entryHeartbeatSeconds};

export const entryHeartbeatTimeoutSeconds = entryPatience.limitSeconds;

/** `other-boot`: recorded under this machine id and another boot, before a reboot or on a clone of this machine. */
type Verdict = Liveness | 'other-boot';

/** Judges the processes behind a lease or an entry. A live process keeps its lease. An invisible process decides nothing. */
export function judge(held: Pick<Lease, 'machine' | 'bootId' | 'holder' | 'job'>, host: Host): Verdict {
	if (held.machine === undefined || held.machine !== host.machineId) {
		return 'unknown';
	}

	const isSameBoot = held.bootId === host.bootId && host.bootId !== undefined;
	if (!isSameBoot && held.bootId !== undefined && host.bootId !== undefined) {
		return 'other-boot';
	}

	// A pid means nothing after a reboot, but an equal start time can hardly be a coincidence.
	const processes = [held.holder, held.job]
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
	/** Alive without a heartbeat, because its wrapper is dead or stopped. The observing process writes the heartbeat. */
	| {readonly kind: 'vouch'};

const holds = {kind: 'holds'} as const;

/** A heartbeat in the future was written before the store's clock stepped back, so its age is unknown. */
const isLongerAgo = (time: number, seconds: number, {now}: Snapshot, inFutureSeconds: number): boolean =>
	now - time > seconds || time - now > inFutureSeconds;

const lastSignOf = (held: Lease | QueueEntry): number =>
	held.lastHeartbeat ?? ('startTime' in held ? held.startTime : held.enqueueTime);

/** Stored times are whole seconds, and two heartbeats are much further apart. */
const isSameHeartbeat = (a: number | undefined, b: number | undefined): boolean =>
	a === b || (a !== undefined && b !== undefined && Math.abs(a - b) < 1);

/** Returns the watch over the current silence. A heartbeat ends a watch. */
const watchOf = ({silence, lastHeartbeat}: Lease | QueueEntry): Silence | undefined =>
	silence !== undefined && isSameHeartbeat(silence.lastHeartbeat, lastHeartbeat) ? silence : undefined;

/** Store time after which a process with another monotonic clock may take over a watch. The first process had time to finish. */
const handOverSeconds = ({watchSeconds}: Patience): number => 2 * watchSeconds;

/** `heard`: alive as far as known. `missed`: a heartbeat was watched and missed. A silence must be stored and watched. */
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
		// Heartbeats cannot arrive while the store is down.
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
Returns whether another boot with this machine id has ended. A clone has the same id and another boot, but its heartbeats continue after this
machine's start. Host name and addresses can change, and only root can read the product id.
*/
const isBeforeReboot = (lastSign: number, snapshot: Snapshot, host: Host, {watchSeconds}: Patience): boolean =>
	lastSign < startOf(host, snapshot) && snapshot.now - lastSign > watchSeconds;

/** A wrapper can be killed between starting its job and committing the job's pid. The orphaned job keeps the GPUs. */
function judgeRun(lease: Lease, host: Host): Verdict {
	const verdict = judge(lease, host);
	return verdict === 'dead' && lease.job === undefined && lease.holder !== undefined
		? host.orphansOf(lease.holder)
		: verdict;
}

/** A crashed job is charged until its last sign of life. */
const endOfDead = ({lastHeartbeat}: Lease, now: number): number =>
	lastHeartbeat === undefined ? now : Math.min(now, lastHeartbeat + leaseHeartbeatSeconds);

function judgeRunLease(lease: Lease, snapshot: Snapshot, host: Host): Judgement<Ending> {
	const lastSign = lastSignOf(lease);
	const end = (reason: EndReason, endTime: number) => ({kind: 'ended', ending: {reason, endTime}}) as const;
	const verdict = judgeRun(lease, host);
	// Adopted processes send no heartbeats, so their silence means nothing.
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
				return end('reboot', lastSign);
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

/** Returns when the lease ends by the store's clock. Ignores the time that the Go program stores for jobs and partial holdings. */
export const timedEndOf = ({type, partialQueueId, expiryTime}: Lease): number | undefined =>
	type === 'manual' && partialQueueId === undefined ? expiryTime : undefined;

/** Returns the store time of the latest end: the expiry, or the time limit of the job. */
export const latestEndOf = (lease: Lease): number | undefined =>
	timedEndOf(lease) ?? (lease.type === 'run' && lease.partialQueueId === undefined ? lease.endsBy : undefined);

/** Judges a lease. A partial holding lives with its queue entry: see {@link judgeEntry}. */
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
	// The watch over an entry that misses its turn begins early, so that others wait only briefly.
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

/** Returns whether an entry is running and missed no heartbeat. Otherwise the entry claims nothing, and others may take its holdings. */
export const isAnswering = (entry: QueueEntry, snapshot: Snapshot, host: Host): boolean =>
	judge(entry, host) !== 'stopped' && hear(entry, snapshot, host, answerPatience) !== 'missed';

/** Returns how long an entry has not answered, for display. Undefined if it answers. */
export function silentSecondsOf(entry: QueueEntry, {now}: Pick<Snapshot, 'now'>): number | undefined {
	const watch = watchOf(entry);
	return watch !== undefined && now - watch.since >= answerPatience.watchSeconds
		? Math.max(0, now - entry.lastHeartbeat)
		: undefined;
}

/** Returns whether a holder must send a heartbeat: it is due, or somebody watches for it. */
const isHeartbeatDue = (lastSign: number, silence: Silence | undefined, now: number, seconds: number): boolean =>
	silence !== undefined || Math.abs(now - lastSign) >= seconds;

export const isLeaseHeartbeatDue = (lease: Lease, now: number): boolean =>
	isHeartbeatDue(lastSignOf(lease), lease.silence, now, leaseHeartbeatSeconds);

export const isEntryHeartbeatDue = ({silence}: QueueEntry, lastHeartbeat: number, now: number): boolean =>
	isHeartbeatDue(lastHeartbeat, silence, now, entryHeartbeatSeconds);

/** Returns the seconds until a silence may end the holder. Negative if it was judged already. */
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

/** Returns the seconds until a snapshot may contain a new end. A waiter reads again at that time. */
export function secondsToNextEnd(snapshot: Snapshot, host: Host): number {
	const {now} = snapshot;
	const ofLeases = holdingsIn(snapshot.gpus).map(({lease}) => {
		if (lease.partialQueueId !== undefined) {
			return Infinity;
		}

		return lease.type === 'manual'
			? (timedEndOf(lease) ?? Infinity) - now
			: silenceEndsIn(lease, snapshot, host, leasePatience);
	});
	const ofEntries = snapshot.queue.flatMap((record) =>
		record.kind === 'entry'
			? [answerPatience, entryPatience].map((patience) => silenceEndsIn(record.entry, snapshot, host, patience))
			: [],
	);
	return Math.min(...[...ofLeases, ...ofEntries].filter((seconds) => seconds >= 0));
}

/** A younger heartbeat proves that its sender is alive: one interval and the time to write. */
const freshSeconds = leasePatience.watchSeconds;

/**
Returns a live holder on a clone of this machine: same machine id, another boot, and a fresh heartbeat long after this
machine's start. A wrong clock before a reboot can imitate such a holder for a minute at most.
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
