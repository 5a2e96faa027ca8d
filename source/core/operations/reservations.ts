import {CanhazgpuError, withFallback} from '../../errors.js';
import type {Refusal} from '../rules/grants/newcomer-grant.js';
import {planExtend, planRelease} from '../rules/leases/lease-changes.js';
import {longestSeconds} from '../rules/leases/durations.js';
import {gpusOf} from '../rules/leases/holdings.js';
import {requireEndWithin} from '../rules/limits/limits.js';
import {policyExpectations} from '../rules/policy/policy.js';
import {timedEndOf} from '../rules/leases/liveness.js';
import {emptyPlan} from '../model/plan.js';
import {checkAgentDuration, latestAgentEnd} from '../rules/policy/agents.js';
import {requirePool} from '../rules/pool/pool.js';
import type {World} from '../model/ports.js';
import {beyondLimitOf} from '../rules/limits/slack.js';
import {checkKeep, warningOf} from '../rules/policy/idle-rules.js';
import {select, type Selection} from '../rules/leases/selection.js';
import {decodeSharedScan} from '../rules/pool/shared-scan.js';
import {statusRows, type View} from '../rules/pool/status.js';
import {auditContextOf} from '../rules/leases/audit-entries.js';
import type {Lease, Observation, Requester} from '../model/types.js';
import type {AcquireRequest, Grant} from '../rules/request/request.js';
import type {EngineWorld, ExtendResult, NewEnd, ReleaseResult} from './engine.js';
import {readForDisplay, transact} from './transact.js';
import {acquireOrRefuse} from './acquire-now.js';
import {limitsFor} from './limits.js';

const watchedIdle = async ({store}: World): Promise<Pick<Observation, 'idle'>> =>
	withFallback(
		async () => {
			const posted = await store.scans.latest();
			return {idle: posted && decodeSharedScan(posted.text)?.idle};
		},
		// The read of the pool, which runs at the same time, reports problems of the store.
		() => ({}),
	);

export async function readStatus(world: EngineWorld): Promise<View> {
	// The first read finds problems of the store without waiting for the scan. Its snapshot is not shown: a GPU that is granted during the scan would
	// look as if its job had no reservation.
	const [seen, watched] = await Promise.all([world.gpus.observe(), watchedIdle(world), world.store.read()]);
	const snapshot = await readForDisplay(world);
	const observation = {...seen, ...watched};
	return {
		pool: requirePool(snapshot, world.host, world.store),
		snapshot,
		observation,
		rows: statusRows(snapshot, observation, world.memoryThresholdMiB),
	};
}

type ReserveRequest = Omit<AcquireRequest, 'tenure'> & {
	readonly durationSeconds: number | undefined;
	readonly keepSeconds?: number;
};

/** Reserves GPUs now or not at all. Throws like `acquireNow`. */
export const reserve = async (
	world: EngineWorld,
	{durationSeconds, keepSeconds, ...request}: ReserveRequest,
): Promise<Grant | Refusal> =>
	acquireOrRefuse(world, {...request, tenure: {type: 'manual', durationSeconds, keepSeconds}}, world.clock.uuid());

/** Releases all selected GPUs. Releases none if some belong to somebody else. */
export const release = async (world: EngineWorld, requester: Requester, selection: Selection): Promise<ReleaseResult> =>
	world.engine?.release(requester, selection) ??
	transact<ReleaseResult>(world, {
		isAboutLeases: true,
		attempt(snapshot) {
			const {records, notYours} = select(snapshot, requester, selection);
			return notYours.length > 0 || records.length === 0
				? {plan: emptyPlan, result: {released: [], notYours}}
				: {
						plan: planRelease(records, requester.label, auditContextOf(world, requester, snapshot)),
						result: {released: records, notYours},
					};
		},
	});

/** `atLeast` moves an end that is less than this many seconds away to this many seconds from now, as far as the limits allow. Later ends stay. */
export type ExtendChange = (NewEnd | {readonly atLeast: number}) & {
	readonly keepSeconds?: number | undefined;
};

/** Changes the end of all selected reservations or of none. Throws `usage` for an end in the past or too far away, or if `keepSeconds` is too long. */
export const extend = async (
	world: EngineWorld,
	requester: Requester,
	selection: Selection,
	{keepSeconds, ...end}: ExtendChange,
): Promise<ExtendResult> => {
	if (world.engine !== undefined) {
		if (keepSeconds !== undefined || 'atLeast' in end) {
			throw new CanhazgpuError(
				'usage',
				'--keep does not work with Slurm, which decides itself when GPUs are released',
				{
					hint: 'Leave out --keep.',
				},
			);
		}

		return world.engine.extend(requester, selection, end);
	}

	return transact<ExtendResult>(world, {
		isAboutLeases: true,
		attempt(snapshot) {
			// After a conflict, expired leases can still be in the snapshot.
			const isOver = (lease: Lease): boolean => (timedEndOf(lease) ?? Infinity) <= snapshot.now;
			const {records, notYours} = select(snapshot, requester, selection, isOver);
			const notTimed = gpusOf(records.filter(({lease}) => timedEndOf(lease) === undefined));
			if (notYours.length > 0 || notTimed.length > 0 || records.length === 0) {
				return {plan: emptyPlan, result: {extended: [], notYours, notTimed, now: snapshot.now}};
			}

			checkKeep(snapshot, keepSeconds);
			const keepUntilOf =
				keepSeconds === undefined
					? undefined
					: ({keepUntil = 0}: Lease): number => Math.max(keepUntil, Math.ceil(snapshot.now + keepSeconds));
			const limits = limitsFor(world, snapshot, requester);
			const most = limits['max-duration']?.value ?? Infinity;
			const expiryOf = (lease: Lease): number => {
				const {expiryTime = snapshot.now} = lease;
				if ('atLeast' in end) {
					const allowed = Math.min(snapshot.now + Math.min(end.atLeast, most), latestAgentEnd(snapshot, lease));
					return Math.ceil(Math.max(expiryTime, allowed));
				}

				return Math.ceil('by' in end ? expiryTime + end.by : end.until);
			};

			if ('until' in end && end.until <= snapshot.now) {
				throw new CanhazgpuError('usage', 'The new end is in the past', {
					hint: 'To end the reservation now: canhazgpu release',
				});
			}

			if (records.some(({lease}) => expiryOf(lease) > snapshot.now + longestSeconds)) {
				throw new CanhazgpuError('usage', 'The new end is more than a hundred years away', {
					hint: 'Nothing was changed.',
				});
			}

			for (const {lease} of records) {
				if (expiryOf(lease) > (lease.expiryTime ?? 0)) {
					checkAgentDuration(snapshot, lease, expiryOf(lease) - lease.startTime);
				}

				requireEndWithin(
					{end: expiryOf(lease), before: lease.expiryTime, now: snapshot.now},
					limits,
					'To set an earlier end: canhazgpu extend --until WHEN',
				);
			}

			const plan = planExtend(
				records,
				{expiryOf, keepUntilOf},
				requester.label,
				auditContextOf(world, requester, snapshot),
			);
			return {
				// Expects an unchanged policy, so that a new limit applies at once. An unreadable policy limits nobody.
				plan: {
					...plan,
					expect: [...plan.expect, ...policyExpectations(snapshot)],
				},
				result: {
					extended: records.map(({index, lease}) => {
						const expiryTime = expiryOf(lease);
						const keepUntil = keepUntilOf?.(lease);
						const changed = {...lease, expiryTime, keepUntil: keepUntil ?? lease.keepUntil};
						return {
							index,
							lease,
							expiryTime,
							keepUntil: keepUntil === undefined ? undefined : Math.min(keepUntil, expiryTime),
							warning: warningOf(changed, snapshot),
							beyondLimit: beyondLimitOf(changed, snapshot),
						};
					}),
					notYours,
					notTimed,
					now: snapshot.now,
				},
			};
		},
	});
};
