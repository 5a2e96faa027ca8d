/** The leases of one connection. This process holds them: it sends heartbeats, and ends the leases when their time is up or the connection ends. */
import {awaitJobLease, endJobLease, sendHeartbeat, type JobLease} from '../core/operations/job-lease.js';
import {renewJobLease} from '../core/operations/renew-job-lease.js';
import {createWakeSignal} from '../core/operations/waiting/wake-signal.js';
import type {HeldPart} from '../core/rules/leases/holdings.js';
import type {World} from '../core/model/ports.js';
import type {EndReason, Requester} from '../core/model/types.js';
import {hasCode, messageOf} from '../errors.js';
import {placesText} from '../format/instances.js';
import {sanitize} from '../format/text/text.js';

/** Time in ms between checks, because not every store announces every change. */
const pollMs = 5000;

/** Time in ms for which the release of a lease is retried when the connection has ended. */
const patienceMs = 10_000;
const retryMs = 250;

type Subscribe = World['store']['subscribe'];

type Notice = (words: string) => void;

export type HeldLeases = {
	/** Keeps a lease that was just granted. Waits for the store until the lease can be read or the connection ends. */
	readonly keep: (world: World, leaseId: string, connectionEnd: AbortSignal) => Promise<void>;
	readonly ids: () => readonly string[];
	/** Moves the end of a lease to `seconds` from now, by default as far as the policy allows. Undefined if this connection does not hold the lease. */
	readonly renew: (
		world: World,
		requester: Requester,
		leaseId: string,
		seconds: number | undefined,
	) => Promise<Awaited<ReturnType<typeof renewJobLease>> | undefined>;
	/** Stops keeping a lease and calls `release`. The client gets no notice of this end. */
	readonly giveUp: <Result>(leaseId: string, release: () => Promise<Result>) => Promise<Result>;
	/** Releases all leases. Never rejects. */
	readonly end: () => Promise<void>;
};

type Kept = {readonly world: World; readonly jobLease: JobLease};

const endOf = ({leases}: JobLease): number | undefined => leases.values().next().value?.lease.endsBy;

const releasedText = (parts: readonly HeldPart[]): string =>
	`${placesText(parts)} ${parts.length === 1 ? 'was' : 'were'} released`;

/** @param notice - Gets a sentence when a lease ends before the client releases it. */
export function createHeldLeases(notice: Notice, remark: Notice): HeldLeases {
	const kept = new Map<string, Kept>();
	const ended = new AbortController();
	let turn: Promise<unknown> = Promise.resolve();

	/** Runs changes of the leases one after the other, so that a heartbeat never undoes a renewal. */
	const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
		const next = turn.then(work);
		turn = next.catch(() => undefined);
		return next;
	};

	const wakeSignal = createWakeSignal();
	const listening = new Map<Subscribe, Promise<Awaited<ReturnType<Subscribe>> | undefined>>();
	let keeping: Promise<void> | undefined;

	async function endLease(leaseId: string, reason: EndReason): Promise<void> {
		const {world, jobLease} = kept.get(leaseId)!;
		await endJobLease(world, jobLease, reason);
		kept.delete(leaseId);
	}

	/** Sends a heartbeat for a lease if one is due, or ends the lease. Returns the seconds until its end. */
	async function check(leaseId: string): Promise<number> {
		const entry = kept.get(leaseId);
		if (entry === undefined) {
			return Infinity;
		}

		const answer = await sendHeartbeat(entry.world, entry.jobLease);
		const {jobLease} = answer;
		const end = endOf(entry.jobLease) ?? Infinity;
		if (answer.kind === 'lost') {
			const lost = [...entry.jobLease.leases].filter(([key]) => !jobLease.leases.has(key)).map(([, part]) => part);
			notice(
				jobLease.seenAt >= end
					? `Reservation ${leaseId} has ended: ${releasedText(lost)} at the end of its time.`
					: `Reservation ${leaseId} no longer has ${placesText(lost)}: somebody released it or created the pool again.`,
			);
		}

		if (jobLease.leases.size === 0) {
			kept.delete(leaseId);
			return Infinity;
		}

		kept.set(leaseId, {...entry, jobLease});
		if (jobLease.seenAt >= end) {
			await endLease(leaseId, 'expired');
			notice(
				`Reservation ${leaseId} has ended: ${releasedText(jobLease.leases.values().toArray())} at the end of its time.`,
			);
			return Infinity;
		}

		return end - jobLease.seenAt;
	}

	async function checkAll(): Promise<number> {
		let nextEnd = Infinity;
		for (const leaseId of kept.keys()) {
			try {
				nextEnd = Math.min(nextEnd, await inTurn(async () => check(leaseId)));
			} catch (error) {
				// While the store is unreachable, the lease continues, because this process is alive.
				if (hasCode(error, 'no-pool') || hasCode(error, 'wrong-machine')) {
					kept.delete(leaseId);
					notice(`Reservation ${leaseId} is lost: ${sanitize(messageOf(error))}.`);
				}
			}
		}

		return nextEnd;
	}

	const isHeld = (gpu: number): boolean => kept.values().some(({jobLease}) => jobLease.gpus.includes(gpu));

	/** Subscribes to the events of a pool, once. There can be several pools, because a pool can move to another store. */
	async function listen({store: {subscribe}}: World): Promise<void> {
		// The worlds of all calls share this function.
		if (!listening.has(subscribe)) {
			const subscription = subscribe({
				changed(event) {
					if (event === undefined || event.kind === 'pool' || event.gpus.some((index) => isHeld(index))) {
						wakeSignal.wake();
					}
				},
				restored() {
					wakeSignal.wake();
				},
			}).catch(() => undefined);
			listening.set(subscribe, subscription);
		}

		await listening.get(subscribe);
	}

	async function keepAll({clock}: World): Promise<void> {
		while (!ended.signal.aborted) {
			const nextEnd = await checkAll();
			await wakeSignal.wait(clock, Math.min(pollMs, Math.max(1, nextEnd * 1000)), ended.signal);
		}
	}

	async function release(leaseId: string): Promise<void> {
		const {clock} = kept.get(leaseId)!.world;
		const untilMs = clock.monotonicMs() + patienceMs;
		for (;;) {
			try {
				await endLease(leaseId, 'released');
				return;
			} catch (error) {
				if (hasCode(error, 'wrong-machine')) {
					// The pool moved to another store, and the move ended the lease.
					return;
				}

				if (hasCode(error, 'no-pool') || clock.monotonicMs() > untilMs) {
					remark(
						`canhazgpu: reservation ${leaseId} could not be released now. The next canhazgpu command will release it. The reason: ${sanitize(messageOf(error))}`,
					);
					return;
				}
			}

			await clock.sleep(retryMs);
		}
	}

	return {
		async keep(world, leaseId, connectionEnd) {
			const signal = AbortSignal.any([ended.signal, connectionEnd]);
			const found = await awaitJobLease(world, leaseId, {signal, away: () => undefined});
			if (found === undefined) {
				return;
			}

			kept.set(leaseId, {world, jobLease: found});
			keeping ??= keepAll(world);
			void listen(world).then(wakeSignal.wake);
		},
		ids: () => kept.keys().toArray(),
		renew: async (world, requester, leaseId, seconds) =>
			inTurn(async () => {
				const entry = kept.get(leaseId);
				if (entry === undefined) {
					return undefined;
				}

				const renewed = await renewJobLease(world, requester, {jobLease: entry.jobLease, seconds});
				kept.set(leaseId, {...entry, jobLease: renewed.jobLease});
				wakeSignal.wake();
				return renewed;
			}),
		giveUp: async (leaseId, give) =>
			inTurn(async () => {
				const result = await give();
				kept.delete(leaseId);
				return result;
			}),
		async end() {
			ended.abort();
			await keeping;
			await Promise.all(
				Array.from(listening.values(), async (subscription) => (await subscription)?.().catch(() => undefined)),
			);
			await Promise.all(Array.from(kept.keys(), async (leaseId) => release(leaseId)));
		},
	};
}
