/** Who is alive: design section 5. A process that can be judged is judged by itself; any other by its heartbeat. */
import type {Host} from './ports.js';
import type {EndReason, Lease, Liveness, ProcessIdentity, QueueEntry, Snapshot} from './types.js';

/** A `run` lease that cannot be judged by its process ends this long after its last heartbeat. */
export const leaseHeartbeatTimeoutSeconds = 15 * 60;

/** A queue entry that cannot be judged by its process is dropped this long after its last heartbeat. */
export const entryHeartbeatTimeoutSeconds = 2 * 60;

type Held = {
	readonly machine?: string;
	readonly bootId?: string;
	readonly holder?: ProcessIdentity;
	readonly job?: ProcessIdentity;
};

/** `rebooted`: it ran on this machine, before its last start. */
export type Verdict = Liveness | 'rebooted';

/** Judges the processes behind a lease or an entry: one that lives keeps it; one that cannot be seen leaves it open. */
export function judge(held: Held, host: Host): Verdict {
	if (held.machine === undefined || held.machine !== host.machineId || held.bootId === undefined) {
		return 'unknown';
	}

	if (held.bootId !== host.bootId) {
		return 'rebooted';
	}

	const processes = [held.holder, held.job].filter((process) => process !== undefined);
	if (processes.length === 0) {
		return 'unknown';
	}

	const answers = host.liveness(processes);
	return (['alive', 'stopped', 'unknown'] as const).find((answer) => answers.includes(answer)) ?? 'dead';
}

export type Ending = {readonly reason: EndReason; readonly endTime: number};

/** A wrapper may be killed between the start of its job and the commit that names it: what it left behind keeps the GPUs, too. */
function judgeRun(lease: Lease, host: Host): Verdict {
	const verdict = judge(lease, host);
	return verdict === 'dead' && lease.job === undefined && lease.holder !== undefined
		? host.orphansOf(lease.holder)
		: verdict;
}

function endOfRun(lease: Lease, snapshot: Snapshot, host: Host): Ending | undefined {
	const lastSign = lease.lastHeartbeat ?? lease.startTime;
	switch (judgeRun(lease, host)) {
		case 'alive':
		case 'stopped': {
			return undefined;
		}

		case 'dead': {
			return {reason: 'holder-died', endTime: snapshot.now};
		}

		case 'rebooted': {
			return {reason: 'reboot', endTime: lastSign};
		}

		case 'unknown': {
			if (lease.lastHeartbeat === undefined && lease.job !== undefined) {
				// An adopted process: nobody ever said that it lives, so silence says nothing.
				return undefined;
			}

			// A store that was down could hear no heartbeat, so the silence counts only once it has been up that long.
			const silentSeconds = Math.min(snapshot.now - lastSign, snapshot.storeUptimeSeconds);
			return silentSeconds > leaseHeartbeatTimeoutSeconds ? {reason: 'heartbeat-lost', endTime: lastSign} : undefined;
		}
	}
}

/**
When the lease ends by the clock alone, on the store's. A job ends when it ends, and a partial holding with its entry, whatever time the
peer has written beside them.
*/
export const timedEndOf = ({type, partialQueueId, expiryTime}: Lease): number | undefined =>
	type === 'manual' && partialQueueId === undefined ? expiryTime : undefined;

/**
When and why a lease ended, or undefined while it holds. A partial holding lives with its queue entry alone: see
{@link endingOfEntry}.
*/
export function endingOf(lease: Lease, snapshot: Snapshot, host: Host): Ending | undefined {
	if (lease.partialQueueId !== undefined) {
		const isWaits = snapshot.queue.some((record) => record.id === lease.partialQueueId && record.kind !== 'orphan');
		return isWaits ? undefined : {reason: 'queue-left', endTime: snapshot.now};
	}

	if (lease.type === 'manual') {
		const end = timedEndOf(lease);
		return end !== undefined && end <= snapshot.now ? {reason: 'expired', endTime: end} : undefined;
	}

	return endOfRun(lease, snapshot, host);
}

/** Why whoever waits behind this entry is gone, or undefined while somebody may be there. */
export function endingOfEntry(entry: QueueEntry, snapshot: Snapshot, host: Host): EndReason | undefined {
	switch (judge(entry, host)) {
		case 'alive':
		case 'stopped': {
			return undefined;
		}

		case 'dead': {
			return 'holder-died';
		}

		case 'rebooted': {
			return 'reboot';
		}

		case 'unknown': {
			const silentSeconds = Math.min(snapshot.now - entry.lastHeartbeat, snapshot.storeUptimeSeconds);
			return silentSeconds > entryHeartbeatTimeoutSeconds ? 'heartbeat-lost' : undefined;
		}
	}
}
