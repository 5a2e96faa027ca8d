/** The verbs. A key press, a subcommand and a web request call these, and nothing else changes the pool. */
import {CanhazgpuError} from '../errors.js';
import {allocate, type Refusal} from './allocation.js';
import {isLeased, planExtend, planRelease, type LeasedRecord} from './lifecycle.js';
import {emptyPlan} from './plan.js';
import {requirePool} from './pool.js';
import type {World} from './ports.js';
import {checkWanted} from './request.js';
import {judge} from './liveness.js';
import {select, type NotYours, type Selection} from './selection.js';
import {statusRows, type View} from './status.js';
import {readLiving, transact} from './transaction.js';
import type {Lease, Observation, Requester, Snapshot} from './types.js';

/** A scan older than this is repeated before GPUs are handed out on its word. */
const freshMs = 2000;

/** Scans and reads, planning away the dead: what `status` shows. */
export async function look(world: World): Promise<View> {
	const [observation, snapshot] = await Promise.all([world.gpus.observe(), readLiving(world)]);
	return {
		pool: requirePool(snapshot, world.host, world.store.location),
		snapshot,
		observation,
		rows: statusRows(snapshot, observation, world.memoryThresholdMiB),
	};
}

export type ReserveRequest = {
	readonly requester: Requester;
	/** Ignored when `ids` are given. */
	readonly count: number;
	readonly ids?: readonly number[];
	readonly durationSeconds: number;
	readonly note?: string;
	/** Takes GPUs in spite of unreserved use or an unknown reading. */
	readonly force?: boolean;
};

export type Grant = {
	readonly kind: 'granted';
	/** Sorted. */
	readonly gpus: readonly number[];
	readonly leaseId: string;
	/** On the store's clock. */
	readonly expiryTime: number;
};

/**
Reserves GPUs for a time, now or not at all.

@throws CanhazgpuError `impossible` when the pool could never give it; `busy`, `store-unreachable`, ...
*/
export async function reserve(world: World, request: ReserveRequest): Promise<Grant | Refusal> {
	const {requester, durationSeconds, note} = request;
	const leaseId = world.clock.uuid();
	let observation: Observation = await world.gpus.observe();
	return transact<Grant | Refusal>(world, {
		user: requester.label,
		async attempt(snapshot) {
			const wanted = checkWanted(request, snapshot.gpus.length);
			if (world.clock.monotonicMs() - observation.takenAtMs > freshMs) {
				observation = await world.gpus.observe();
			}

			const expiryTime = Math.ceil(snapshot.now + durationSeconds);
			const lease: Lease = {
				user: requester.label,
				actualUser: requester.account,
				type: 'manual',
				startTime: Math.floor(snapshot.now),
				lastHeartbeat: Math.floor(snapshot.now),
				expiryTime,
				note,
				leaseId,
			};
			const answer = allocate(snapshot, observation, {
				wanted,
				lease,
				force: request.force ?? false,
				memoryThresholdMiB: world.memoryThresholdMiB,
				isAwake: (entry) => judge(entry, world.host) !== 'stopped',
			});
			return answer.kind === 'refused'
				? {plan: emptyPlan, result: answer}
				: {plan: answer.plan, result: {kind: 'granted', gpus: answer.gpus, leaseId, expiryTime}};
		},
		happened: (snapshot) => snapshot.gpus.some((record) => isLeased(record) && record.lease.leaseId === leaseId),
	});
}

const isGone = (snapshot: Snapshot, records: readonly LeasedRecord[]): boolean =>
	records.every(({index, raw}) => snapshot.gpus[index]?.raw !== raw);

export type ReleaseResult = {
	/** Sorted by GPU. */
	readonly released: readonly LeasedRecord[];
	/** Named, but somebody else's: then nothing at all was released. */
	readonly notYours: readonly NotYours[];
};

/** Gives GPUs back at once: all that were named, or none. */
export const release = async (world: World, requester: Requester, selection: Selection): Promise<ReleaseResult> =>
	transact<ReleaseResult>(world, {
		attempt(snapshot) {
			const {records, notYours} = select(snapshot, requester, selection);
			return notYours.length > 0 || records.length === 0
				? {plan: emptyPlan, result: {released: [], notYours}}
				: {plan: planRelease(records, snapshot, requester.label), result: {released: records, notYours}};
		},
		happened: (snapshot, {released}) => isGone(snapshot, released),
	});

/** `by` adds to each lease's own end; `until` sets it, in seconds since the epoch on the store's clock. */
export type NewEnd = {readonly by: number} | {readonly until: number};

export type ExtendResult = {
	readonly extended: ReadonlyArray<{readonly index: number; readonly expiryTime: number}>;
	readonly notYours: readonly NotYours[];
	/** Named and yours, but they end with their job and not at a time. */
	readonly notTimed: readonly number[];
	/** The store's clock, to say how long is left. */
	readonly now: number;
};

/**
Moves the end of manual reservations: of all that were named, or of none.

@throws CanhazgpuError `usage` when the new end lies in the past.
*/
export const extend = async (
	world: World,
	requester: Requester,
	selection: Selection,
	end: NewEnd,
): Promise<ExtendResult> =>
	transact<ExtendResult>(world, {
		attempt(snapshot) {
			const {records, notYours} = select(snapshot, requester, selection);
			const notTimed = records.filter(({lease}) => lease.expiryTime === undefined).map(({index}) => index);
			if (notYours.length > 0 || notTimed.length > 0 || records.length === 0) {
				return {plan: emptyPlan, result: {extended: [], notYours, notTimed, now: snapshot.now}};
			}

			const expiryOf = ({expiryTime = snapshot.now}: Lease): number =>
				Math.ceil('by' in end ? expiryTime + end.by : end.until);
			if ('until' in end && end.until <= snapshot.now) {
				throw new CanhazgpuError('usage', 'The new end lies in the past', {hint: 'To end it now, release it.'});
			}

			return {
				plan: planExtend(records, expiryOf, requester.label),
				result: {
					extended: records.map(({index, lease}) => ({index, expiryTime: expiryOf(lease)})),
					notYours,
					notTimed,
					now: snapshot.now,
				},
			};
		},
		happened: (snapshot, {extended}) =>
			extended.every(({index, expiryTime}) => {
				const record = snapshot.gpus[index];
				return record !== undefined && isLeased(record) && record.lease.expiryTime === expiryTime;
			}),
	});
