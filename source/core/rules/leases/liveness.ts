/**
Who is alive. A process that can be judged is judged by itself; any other by its heartbeat. Silence and absence are not an
end: what cannot be read is unknown, and a heartbeat counts as missed only when somebody watched it being missed on a monotonic clock.
*/
import type {Host} from '../../model/ports.js';
import type {EndReason, Lease, LeftProcess, Liveness, QueueEntry, Silence, Snapshot} from '../../model/types.js';
import {holdingsIn} from './holdings.js';

/** Between two heartbeats of a lease. */
export const leaseHeartbeatSeconds = 60;

/** Between two heartbeats of a queue entry. */
export const entryHeartbeatSeconds = 30;

/** How long a holder that cannot be judged by its process may be silent. */
type Patience = {
	/** By the store's clock, which may step: after this long somebody begins to watch. */
	readonly limitSeconds: number;
	/** On the monotonic clock: a heartbeat and a little more. */
	readonly watchSeconds: number;
};

const leasePatience: Patience = {limitSeconds: 15 * 60, watchSeconds: leaseHeartbeatSeconds + 10};
const entryPatience: Patience = {limitSeconds: 2 * 60, watchSeconds: entryHeartbeatSeconds + 10};

/**
When an entry of the queue holds up others no longer, although its process may live: after about two missed heartbeats. It keeps its position,
and claims again with its next heartbeat.
*/
const answerPatience: Patience = {limitSeconds: entryHeartbeatSeconds + 10, watchSeconds: entryHeartbeatSeconds};

/** A queue entry that was dropped was silent for longer than this. */
export const entryHeartbeatTimeoutSeconds = entryPatience.limitSeconds;

/** `other-boot`: it was recorded under this machine-id and another boot, before a reboot or on a clone of this machine. */
type Verdict = Liveness | 'other-boot';

/** Judges the processes behind a lease or an entry: one that lives keeps it; one that cannot be seen leaves it open. */
export function judge(held: Pick<Lease, 'machine' | 'bootId' | 'holder' | 'job'>, host: Host): Verdict {
	if (held.machine === undefined || held.machine !== host.machineId) {
		return 'unknown';
	}

	const isSameBoot = held.bootId === host.bootId && host.bootId !== undefined;
	if (!isSameBoot && held.bootId !== undefined && host.bootId !== undefined) {
		return 'other-boot';
	}

	// A pid says nothing of another boot, but the same start time is hardly that of another process.
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
	/** Processes of the job that outlived it. */
	readonly left?: readonly LeftProcess[];
};

/** What the judgement of a holder, or of a waiter, leads to. */
type Judgement<End> =
	| {readonly kind: 'holds'}
	| {readonly kind: 'ended'; readonly ending: End}
	/** It is silent and cannot be judged: it is to be watched from now on. */
	| {readonly kind: 'watch'; readonly silence: Silence}
	/** It is seen to live and does not say so, because its wrapper is dead or stopped: the process that sees it says so. */
	| {readonly kind: 'vouch'};

const holds = {kind: 'holds'} as const;

/** A heartbeat in the future was written before the store's clock stepped back: nothing shows how long ago. */
const isLongerAgo = (time: number, seconds: number, {now}: Snapshot, inFutureSeconds: number): boolean =>
	now - time > seconds || time - now > inFutureSeconds;

/** The last sign of life, on the store's clock. */
const lastSignOf = (held: Lease | QueueEntry): number =>
	held.lastHeartbeat ?? ('startTime' in held ? held.startTime : held.enqueueTime);

/** Stored times are whole seconds, and a heartbeat comes much later than a second after the one before. */
const isSameHeartbeat = (a: number | undefined, b: number | undefined): boolean =>
	a === b || (a !== undefined && b !== undefined && Math.abs(a - b) < 1);

/** The watch over this silence. One that began before the last heartbeat is over. */
const watchOf = ({silence, lastHeartbeat}: Lease | QueueEntry): Silence | undefined =>
	silence !== undefined && isSameHeartbeat(silence.lastHeartbeat, lastHeartbeat) ? silence : undefined;

/** Another clock may take a watch over after this long, in seconds on the store's clock: the process that began it has had time to end it. */
const handOverSeconds = ({watchSeconds}: Patience): number => 2 * watchSeconds;

/** `heard`: as far as anybody can tell. `missed`: somebody watched the heartbeat being missed. A silence is one to write down, and to watch. */
type Hearing = 'heard' | 'missed' | Silence;

/** Judges by the heartbeat alone. */
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
		// A store that was down could hear no heartbeat.
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

/** Returns what a hearing leads to: `lost` where a heartbeat was missed. */
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

/** When this machine was started, on the store's clock. */
const startOf = (host: Host, {now}: Snapshot): number => now - host.uptimeSeconds();

/**
Whether another boot of this machine-id is over. A clone of this machine bears the same id and another boot: while it lives its heartbeats
go on after our own start, so only a holder that was silent since before it has ended with a reboot. Neither the host name nor network
addresses tell a clone from the machine itself: both change on one machine, and the product's id can be read by root alone.
*/
const isBeforeReboot = (lastSign: number, snapshot: Snapshot, host: Host, {watchSeconds}: Patience): boolean =>
	lastSign < startOf(host, snapshot) && snapshot.now - lastSign > watchSeconds;

/** A wrapper may be killed between the start of its job and the commit that names it: what it left behind keeps the GPUs, too. */
function judgeRun(lease: Lease, host: Host): Verdict {
	const verdict = judge(lease, host);
	return verdict === 'dead' && lease.job === undefined && lease.holder !== undefined
		? host.orphansOf(lease.holder)
		: verdict;
}

/** A crashed job is charged to its last sign of life, however late that is seen. */
const endOfDead = ({lastHeartbeat}: Lease, now: number): number =>
	lastHeartbeat === undefined ? now : Math.min(now, lastHeartbeat + leaseHeartbeatSeconds);

function judgeRunLease(lease: Lease, snapshot: Snapshot, host: Host): Judgement<Ending> {
	const lastSign = lastSignOf(lease);
	const end = (reason: EndReason, endTime: number) => ({kind: 'ended', ending: {reason, endTime}}) as const;
	const verdict = judgeRun(lease, host);
	// No one ever says that an adopted process lives, so its silence says nothing.
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

/**
When the lease ends by the clock alone, on the store's. A job ends when it ends, and a partial holding with its entry, whatever time the
peer has written beside them.
*/
export const timedEndOf = ({type, partialQueueId, expiryTime}: Lease): number | undefined =>
	type === 'manual' && partialQueueId === undefined ? expiryTime : undefined;

/** When the lease is over at the latest, as far as that is known: its expiry, or the time limit of its job. In seconds on the store's clock. */
export const latestEndOf = (lease: Lease): number | undefined =>
	timedEndOf(lease) ?? (lease.type === 'run' && lease.partialQueueId === undefined ? lease.endsBy : undefined);

/** Judges a lease. A partial holding lives with its queue entry alone: see {@link judgeEntry}. */
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

/** When and why a lease ended, or undefined while it holds. */
export function endingOf(lease: Lease, snapshot: Snapshot, host: Host): Ending | undefined {
	const judgement = judgeLease(lease, snapshot, host);
	return judgement.kind === 'ended' ? judgement.ending : undefined;
}

/** Judges a queue entry: why its waiter is gone, or whether there may be one. */
export function judgeEntry(entry: QueueEntry, snapshot: Snapshot, host: Host): Judgement<EndReason> {
	const end = (ending: EndReason) => ({kind: 'ended', ending}) as const;
	const verdict = judge(entry, host);
	// The watch over an entry that misses its turn begins early, so that others do not wait for it long.
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
Whether an entry takes its turn: its process is not stopped, and its heartbeat was not missed. One that does not claims nothing, and others may
take what it holds.
*/
export const isAnswering = (entry: QueueEntry, snapshot: Snapshot, host: Host): boolean =>
	judge(entry, host) !== 'stopped' && hear(entry, snapshot, host, answerPatience) !== 'missed';

/** Returns how many seconds ago an entry last answered, once that was watched for too long; undefined for one that answers. For display. */
export function silentSecondsOf(entry: QueueEntry, {now}: Pick<Snapshot, 'now'>): number | undefined {
	const watch = watchOf(entry);
	return watch !== undefined && now - watch.since >= answerPatience.watchSeconds
		? Math.max(0, now - entry.lastHeartbeat)
		: undefined;
}

/** Whether a holder has to say that it lives: a heartbeat is due, or somebody watches whether it stays silent. */
const isHeartbeatDue = (lastSign: number, silence: Silence | undefined, now: number, seconds: number): boolean =>
	silence !== undefined || Math.abs(now - lastSign) >= seconds;

export const isLeaseHeartbeatDue = (lease: Lease, now: number): boolean =>
	isHeartbeatDue(lastSignOf(lease), lease.silence, now, leaseHeartbeatSeconds);

export const isEntryHeartbeatDue = ({silence}: QueueEntry, lastHeartbeat: number, now: number): boolean =>
	isHeartbeatDue(lastHeartbeat, silence, now, entryHeartbeatSeconds);

/** In how many seconds a silence may be over, if nothing is heard until then. Negative: it was judged already. */
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

/**
In how many seconds the next read may find something over that was read: for a waiter that has to be there in time. `Infinity`: nothing that can
be foreseen.
*/
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

/** A heartbeat younger than this was written by somebody who lives: one heartbeat, and time to write it. */
const freshSeconds = leasePatience.watchSeconds;

/**
Who of the pool lives under our machine-id and in another boot: the processes of a clone of this machine. Its heartbeat is fresh, and long
after our own start; a clock that was off before a reboot cannot make it look so for more than a minute.
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
