/** Waits in the queue. Reads again after events, and also regularly in case an event was missed. Scans only if there may be GPUs to take. */
import {isTransient} from '../../../errors.js';
import {secondsUntilGrants} from '../../rules/pool/alerts.js';
import {
	entryHeartbeatSeconds,
	entryHeartbeatTimeoutSeconds,
	isEntryHeartbeatDue,
	secondsToNextEnd,
} from '../../rules/leases/liveness.js';
import {judgedByWaiter} from '../../rules/leases/lease-changes.js';
import type {World} from '../../model/ports.js';
import {outagesByRecord, outOfServiceFor} from '../../rules/queue/out-of-service.js';
import {holdingsOf, isNoted, planEntryHeartbeat, planEntryNote} from '../../rules/queue/queue.js';
import {checkAgentRequest} from '../../rules/policy/agents.js';
import {dependsOnGpus, type Eligibility} from '../../rules/allocation/need.js';
import {isPossible, wantsInstances} from '../../rules/queue/eligible.js';
import {isWhole} from '../../rules/mig/instances.js';
import {checkWanted, type AcquireRequest, type Grant, type Tenure, type Wanted} from '../../rules/request/request.js';
import type {EntryRecord, Observation, PoolEvent, Snapshot} from '../../model/types.js';
import {
	endsLimit,
	readAfterMs,
	tolerableDelayMs,
	nextHeartbeatMs,
	nextReadMs,
	snapshotAfterEvent,
} from '../../rules/queue/wake-up.js';
import {estimateWaits} from '../../rules/queue/estimates.js';
import {readCurrent} from '../transact.js';
import {createAlertRecorder, type AlertRecorder} from '../record-alerts.js';
import {createLinkReader, grantIn, grantOf, leaseFor, type ReadLinks} from '../acquire-now.js';
import {groupsFor, limitsFor, withinLimits} from '../limits.js';
import type {GaveUp, Progress, WaitOptions} from '../engine.js';
import {createIdleWatch, type IdleWatch} from './idle-watch.js';
import {joinQueue} from './join-queue.js';
import {isRemoved, quitQueue} from './leave-queue.js';
import {createWakeSignal} from './wake-signal.js';
import {planWithScan, type Nothing} from './waiter-plan.js';

const conflictWaitMs = 20;

type WaiterOptions = {
	readonly world: World;
	readonly request: AcquireRequest;
	readonly options: WaitOptions;
	readonly leaseId: string;
	readonly entryId: string;
	readonly scan: () => Promise<Observation>;
	readonly deadlineMs: number;
};

/** An entry of the queue, from joining to grant, timeout or cancellation. */
export class Waiter {
	readonly #world: World;
	readonly #request: AcquireRequest;
	readonly #options: WaitOptions;
	readonly #leaseId: string;
	readonly #scan: () => Promise<Observation>;
	readonly #readLinks: ReadLinks;
	readonly #wakeSignal = createWakeSignal();
	readonly #recordAlerts: AlertRecorder;
	readonly #idleWatch: IdleWatch;
	#aside: Promise<unknown> = Promise.resolve();
	readonly #ended = new AbortController();
	readonly #entryId: string;
	/** Store time of joining, which determines the position. */
	#joinedAt: number | undefined;
	readonly #deadlineMs: number;
	#lastHeartbeat = 0;
	#seenAtMs = -Infinity;
	#readAtMs = 0;
	#hadOutage = false;
	/** The qualities that the last scan could not determine, by GPU. */
	#seenOf: {readonly gpuCount: number; readonly unknown: Eligibility['unknown']} | undefined;
	#hasSplit = false;
	#lastRead: Snapshot | undefined;
	#lastProgress: Progress | undefined;
	#tenure: Tenure | undefined;

	constructor({world, request, options, leaseId, entryId, scan, deadlineMs}: WaiterOptions) {
		this.#world = world;
		this.#request = request;
		this.#options = options;
		this.#leaseId = leaseId;
		this.#scan = scan;
		this.#readLinks = createLinkReader(world);
		this.#deadlineMs = deadlineMs;
		this.#entryId = entryId;
		this.#recordAlerts = createAlertRecorder(world);
		this.#idleWatch = createIdleWatch({
			world,
			entryId: this.#entryId,
			signal: this.#ended.signal,
			run: (work) => {
				this.#doAside(async () => this.#inBackground(work()));
			},
		});
	}

	/** Joins the queue and waits. After the wait, the request has no entry and holds no GPU without a grant, unless the store is unreachable. */
	async wait(): Promise<Grant | GaveUp> {
		const {store, clock} = this.#world;
		const {signal} = this.#options;
		// Subscribes before the first read, so that no event after the read is missed.
		const unsubscribe = await store.subscribe({
			changed: (event) => {
				this.#applyEvent(event);
			},
			restored: () => {
				this.#wakeSignal.wake();
			},
			lost: (reason) => {
				this.#report({kind: 'store-lost', reason});
			},
			tolerableDelayMs: () => tolerableDelayMs(this.#lastRead, this.#entryId),
		});
		let isGranted = false;
		try {
			await this.#join();
			while (!signal.aborted) {
				const isLast = clock.monotonicMs() >= this.#deadlineMs;
				const end = await this.#tryUnlessAway();
				if (end !== undefined) {
					isGranted = end.kind === 'granted';
					return end;
				}

				if (isLast) {
					return await this.#leave('timeout');
				}

				await this.#waitUntilDue(signal);
			}

			return await this.#leave('aborted');
		} catch (error) {
			const end = await this.#leave('aborted');
			if (error === signal.reason) {
				return end;
			}

			throw error;
		} finally {
			this.#ended.abort();
			const stopListening = async () => this.#inBackground(unsubscribe());
			if (isGranted) {
				this.#doOnceInUse(stopListening);
			} else {
				this.#doAside(stopListening);
			}

			await this.#aside;
		}
	}

	async #inBackground(work: Promise<void>): Promise<void> {
		try {
			await work;
		} catch (error) {
			this.#options.failed?.(error);
		}
	}

	#doAside(work: () => Promise<void>): void {
		this.#aside = Promise.all([this.#aside, work()]);
	}

	#doOnceInUse(work: () => Promise<void>): void {
		const {afterwards = this.#doAside.bind(this)} = this.#options;
		afterwards(work);
	}

	async #join(): Promise<void> {
		const {lastHeartbeat, joinedAt} = await joinQueue(this.#world, {
			id: this.#entryId,
			request: this.#request,
			observation: await this.#scanIfNeeded(),
			readLinks: this.#readLinks,
			waitSeconds: this.#options.waitSeconds,
			joinedAt: this.#joinedAt,
		});
		this.#lastHeartbeat = lastHeartbeat;
		this.#joinedAt = joinedAt;
	}

	/** Scans the GPUs before joining. A request that accepts any GPU joins without a scan, so that a slow tool does not delay the request. */
	async #scanIfNeeded(): Promise<Observation | undefined> {
		const {count, ids, need} = this.#request;
		return dependsOnGpus({count: ids?.length ?? count, ids, need}) ? this.#scan() : undefined;
	}

	async #leave(reason: GaveUp['reason']): Promise<Grant | GaveUp> {
		const {account} = this.#request.requester;
		return quitQueue(this.#world, {
			id: this.#entryId,
			leaseId: this.#leaseId,
			account,
			reason,
			tenure: this.#tenure,
		});
	}

	async #waitUntilDue(signal: AbortSignal): Promise<void> {
		const {clock, host} = this.#world;
		const untilReadMs = nextReadMs(this.#lastRead, this.#entryId, {
			nextEndSeconds: this.#lastRead === undefined ? Infinity : secondsToNextEnd(this.#lastRead, host),
			random: clock.random(),
		});
		const untilMs = Math.min(this.#deadlineMs, clock.monotonicMs() + untilReadMs);
		for (;;) {
			const heartbeatMs =
				this.#lastRead === undefined ? Infinity : nextHeartbeatMs(this.#lastHeartbeat, this.#now(this.#lastRead));
			const leftMs = untilMs - clock.monotonicMs();
			const isWoken = await this.#wakeSignal.wait(clock, Math.min(leftMs, heartbeatMs), signal);
			if (isWoken || signal.aborted || leftMs <= heartbeatMs || !(await this.#sendHeartbeat())) {
				return;
			}
		}
	}

	/** Returns the entry with the groups of this account that currently have limits, so that other processes know the account's limit. */
	#withGroups(own: EntryRecord, snapshot: Snapshot): EntryRecord {
		return {...own, entry: {...own.entry, groups: groupsFor(this.#world, snapshot)}};
	}

	#now({now}: Snapshot): number {
		return now + (this.#world.clock.monotonicMs() - this.#readAtMs) / 1000;
	}

	/** Sends a heartbeat without the expensive read of the whole queue. Returns false if a complete read is needed. */
	async #sendHeartbeat(): Promise<boolean> {
		const {store} = this.#world;
		const lastRead = this.#lastRead;
		if (lastRead === undefined || holdingsOf(lastRead, this.#entryId).length > 0) {
			return false;
		}

		try {
			const own = await store.readEntry(this.#entryId);
			if (own === undefined) {
				return false;
			}

			const now = this.#now(lastRead);
			this.#lastHeartbeat = now;
			return (await store.commit(planEntryHeartbeat({gpus: [], now}, this.#withGroups(own, lastRead)))) === 'done';
		} catch (error) {
			if (isTransient(error)) {
				return false;
			}

			throw error;
		}
	}

	/** Applies the event to the last snapshot, so that moving up in the queue needs no read. */
	#applyEvent(event: PoolEvent | undefined): void {
		const before = this.#lastRead;
		this.#lastRead = snapshotAfterEvent(before, event);
		const afterMs = readAfterMs(event, this.#lastRead, this.#entryId);
		if (afterMs === 0 || endsLimit(before, this.#lastRead, this.#entryId)) {
			this.#wakeSignal.wake();
			return;
		}

		if (afterMs !== undefined) {
			void this.#inBackground(this.#wakeSignal.wakeAfter(this.#world.clock, afterMs, this.#ended.signal));
		}

		const position = this.#lastRead?.queue.findIndex(({id}) => id === this.#entryId) ?? -1;
		if (event?.left !== undefined && position !== -1 && this.#lastProgress?.kind === 'waiting') {
			this.#report({...this.#lastProgress, position: position + 1, waiting: this.#lastRead!.queue.length});
		}
	}

	/** Tries to take GPUs. If the store is unreachable, reports the outage and continues to wait. */
	async #tryUnlessAway(): Promise<Grant | GaveUp | undefined> {
		try {
			return await this.#try();
		} catch (error) {
			if (!isTransient(error)) {
				throw error;
			}

			this.#hadOutage = true;
			this.#lastRead = undefined;
			this.#report({kind: 'store-lost', reason: error.message});
			return undefined;
		}
	}

	async #try(): Promise<Grant | GaveUp | undefined> {
		const {clock, store} = this.#world;
		for (;;) {
			const snapshot = await readCurrent(this.#world, {
				user: this.#request.requester.label,
				judged: (read) => judgedByWaiter(read, () => clock.random()),
			});
			// A grant is valid even if the answer to its commit was lost and the policy has become stricter since then.
			const earlier = grantIn(snapshot, this.#leaseId, this.#tenure);
			if (earlier !== undefined) {
				return earlier;
			}

			// The pool may have been replaced by a smaller one, for which the request is impossible.
			const wanted = checkWanted(this.#request, snapshot.gpus.length);
			checkAgentRequest(snapshot, this.#request, wanted.count);
			const limits = limitsFor(this.#world, snapshot, this.#request.requester);
			const request = withinLimits(this.#request, wanted, {limits, policy: snapshot});
			this.#tenure = request.tenure;
			this.#lastRead = snapshot;
			this.#readAtMs = clock.monotonicMs();
			const own = snapshot.queue.find(
				(record): record is EntryRecord => record.kind === 'entry' && record.id === this.#entryId,
			);
			if (own === undefined) {
				const end = await this.#endOrRejoin(snapshot);
				if (end !== undefined) {
					return end;
				}

				continue;
			}

			this.#hadOutage = false;
			// Continues without a new read, because heartbeats are most of the work in a long queue. If the snapshot is outdated, a grant
			// conflicts and is retried.
			await this.#renewIfDue(snapshot, own);
			let recordSeen = async (): Promise<void> => undefined;
			const grant = await planWithScan(this.#world, snapshot, {
				request,
				limit: limits['max-gpus'],
				leaseId: this.#leaseId,
				entryId: this.#entryId,
				scan: this.#scan,
				readLinks: this.#readLinks,
				isScanDue: this.#isScanDue(snapshot, own),
				seen: (observation) => {
					this.#seenAtMs = clock.monotonicMs();
					this.#hasSplit = observation.gpus.some((reading) => isWhole(reading) !== true);
					recordSeen = async () => this.#inBackground(this.#recordAlerts(snapshot, observation));
				},
			});
			if (grant === 'stale') {
				continue;
			}

			if (grant.kind === 'nothing') {
				this.#doAside(recordSeen);
				this.#idleWatch.start(snapshot);
				if (await this.#storeNote(snapshot, own, grant)) {
					continue;
				}

				// Qualities that the last scan could not determine are still unknown until the next scan.
				this.#report(waitingProgress(snapshot, own, wanted, {...grant, unknown: this.#seenOf?.unknown}));
				return undefined;
			}

			const settling = secondsUntilGrants(snapshot);
			if (settling > 0) {
				this.#doAside(recordSeen);
				await this.#wakeSignal.wait(clock, settling * 1000, this.#options.signal);
				if (this.#options.signal.aborted || clock.monotonicMs() >= this.#deadlineMs) {
					return undefined;
				}

				continue;
			}

			const outcome = await store.commit(grant.plan);
			if (outcome === 'done' && grant.kind === 'complete') {
				this.#doOnceInUse(recordSeen);
				const lease = leaseFor(request, this.#leaseId, this.#world.host, snapshot.now);
				return grantOf(grant, this.#leaseId, lease, request.tenure);
			}

			this.#doAside(recordSeen);
			if (outcome === 'done') {
				continue;
			}

			if (outcome === 'locked') {
				this.#report(waitingProgress(snapshot, own, wanted, {unusable: []}));
			}

			await clock.sleep(conflictWaitMs * (0.25 + clock.random()));
			// Conflicts may never end, for example if the Go program crashed and left its lock.
			if (this.#options.signal.aborted || clock.monotonicMs() >= this.#deadlineMs) {
				return undefined;
			}
		}
	}

	/** Sends a heartbeat if it is due, or if it stores new groups: others could overtake the request until these are stored. */
	async #renewIfDue(snapshot: Snapshot, own: EntryRecord): Promise<void> {
		const renewed = this.#withGroups(own, snapshot);
		const hasNewGroups = String(renewed.entry.groups) !== String(own.entry.groups);
		if (!(hasNewGroups || isEntryHeartbeatDue(own.entry, this.#lastHeartbeat, snapshot.now))) {
			return;
		}

		// A conflict needs no retry: the next read shows whether a heartbeat is still due.
		await this.#world.store.commit(planEntryHeartbeat(snapshot, renewed));
		this.#lastHeartbeat = snapshot.now;
	}

	/** Stores in the entry what the scan found, if that is new. Returns whether it was new. */
	async #storeNote(snapshot: Snapshot, own: EntryRecord, {note, unknown}: Nothing): Promise<boolean> {
		if (unknown !== undefined) {
			this.#seenOf = {gpuCount: snapshot.gpus.length, unknown};
		}

		const isNew = note !== undefined && !isNoted(note, own.entry);
		if (isNew) {
			await this.#world.store.commit(planEntryNote(snapshot, own, note, this.#world.host.hostname));
		}

		return isNew;
	}

	/** Returns whether to scan with each heartbeat, because other requests depend on the GPUs that this entry holds or notes as out of service. */
	#isScanDue(snapshot: Snapshot, {id, entry}: EntryRecord): boolean {
		const gpuCount = snapshot.gpus.length;
		const isUncertain =
			entry.eligible !== undefined &&
			(!isPossible(entry, gpuCount) || this.#seenOf?.unknown.size !== 0 || this.#seenOf.gpuCount !== gpuCount);
		// An administrator can change the MIG layout at any time.
		const isOfSplitBox = wantsInstances(entry) || (entry.eligible !== undefined && this.#hasSplit);
		const matters =
			entry.unavailable !== undefined || isOfSplitBox || isUncertain || holdingsOf(snapshot, id).length > 0;
		return matters && this.#world.clock.monotonicMs() - this.#seenAtMs >= entryHeartbeatSeconds * 1000;
	}

	/** Handles an entry that is no longer in the queue: ends the wait, or joins the queue again and returns undefined. */
	async #endOrRejoin(snapshot: Snapshot): Promise<GaveUp | undefined> {
		const hasLostData = (snapshot.dataLoss?.restoredAt ?? 0) >= this.#lastHeartbeat;
		const isSilent = snapshot.now - this.#lastHeartbeat >= entryHeartbeatTimeoutSeconds;
		const mayBeLost = this.#hadOutage || hasLostData || isSilent;
		if (!mayBeLost || (await isRemoved(this.#world, this.#entryId, this.#lastHeartbeat))) {
			return {kind: 'gave-up', reason: 'removed'};
		}

		// The store has lost the entry with other data, or the Go program has removed it while this process was stopped.
		await this.#join();
		this.#report({kind: 'rejoined'});
		return undefined;
	}

	/** Reports progress when it has changed. A new estimate alone is not reported, because estimates change every second. */
	#report(progress: Progress): void {
		const isSame = JSON.stringify(unestimated(this.#lastProgress)) === JSON.stringify(unestimated(progress));
		this.#lastProgress = progress;
		if (!isSame) {
			this.#options.onProgress(progress);
		}
	}
}

const unestimated = (progress: Progress | undefined) => progress && {...progress, estimateSeconds: undefined};

const waitingProgress = (
	snapshot: Snapshot,
	own: EntryRecord,
	wanted: Wanted,
	{unusable, unknown, overLimit, agentLimit}: Pick<Nothing, 'unusable' | 'unknown' | 'overLimit' | 'agentLimit'>,
): Progress => ({
	kind: 'waiting',
	position: snapshot.queue.indexOf(own) + 1,
	waiting: snapshot.queue.length,
	wanted,
	held: holdingsOf(snapshot, own.id).map(({index}) => index),
	outOfService: outOfServiceFor(own.entry, snapshot.gpus, outagesByRecord(snapshot)).map(({gpu}) => gpu),
	unusable,
	unknown: Array.from(unknown ?? [], ([index, quality]) => ({index, quality})),
	estimateSeconds: estimateWaits(snapshot).get(own.id),
	...(overLimit !== undefined && {overLimit}),
	...(agentLimit !== undefined && {agentLimit}),
});
