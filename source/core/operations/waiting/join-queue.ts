import type {World} from '../../model/ports.js';
import {entryFor, planJoin} from '../../rules/queue/queue.js';
import {eligibleOf} from '../../rules/allocation/need.js';
import {ownerOf} from '../../rules/leases/ownership.js';
import {requireWithinMaxWaiting} from '../../rules/limits/limits.js';
import {policyExpectations} from '../../rules/policy/policy.js';
import type {AcquireRequest} from '../../rules/request/request.js';
import type {Observation} from '../../model/types.js';
import {requireNoClone} from '../../rules/pool/pool.js';
import {emptyPlan} from '../../model/plan.js';
import {transact} from '../transact.js';
import {checkKeepOf, createLinkReader, type ReadLinks} from '../acquire-now.js';
import {groupsFor} from '../limits.js';
import {requirePossibleIn} from '../require-possible.js';

type JoinOptions = {
	readonly id: string;
	readonly request: AcquireRequest;
	readonly waitSeconds: number | undefined;
	/** The scan that determines which GPUs are eligible. Absent if all GPUs are eligible. */
	readonly observation?: Observation | undefined;
	readonly readLinks?: ReadLinks;
	/** For an entry that was lost, the store time at which it first joined. If undefined, the entry joins at the end of the queue. */
	readonly joinedAt?: number | undefined;
};

/** Joins the queue. If the entry is already in the queue, it keeps its position. Returns the store times of its first joining and its last heartbeat. */
export const joinQueue = async (
	world: World,
	{id, request, waitSeconds, observation, readLinks = createLinkReader(world), joinedAt}: JoinOptions,
): Promise<{readonly lastHeartbeat: number; readonly joinedAt: number}> => {
	const {requester, note, via, force} = request;
	return transact(world, {
		async attempt(snapshot) {
			requireNoClone(snapshot, world.host, world.store.location);
			checkKeepOf(request, snapshot);
			const {wanted, eligibility, limits, timed} = await requirePossibleIn(world, snapshot, request, {
				observation,
				readLinks,
			});
			const {tenure} = timed;
			const waiting = snapshot.queue.filter(
				(record) => record.kind === 'entry' && ownerOf(record.entry) === requester.account,
			).length;
			// A lost entry was within this limit when it first joined.
			const isLimited = limits['max-waiting'] !== undefined && joinedAt === undefined;
			const {now} = snapshot;
			const began = joinedAt ?? now;
			const entry = {
				...entryFor(
					{id, requester, wanted, eligible: eligibleOf(eligibility), tenure, note, via, force, waitSeconds},
					world.host,
					began,
				),
				lastHeartbeat: now,
				groups: groupsFor(world, snapshot),
			};
			const result = {lastHeartbeat: now, joinedAt: began};
			// Another process may have restored the entry in the meantime, or it joined before an outage.
			const existing = snapshot.queue.find((record) => record.id === id);
			if (existing !== undefined) {
				const {lastHeartbeat, enqueueTime} = existing.kind === 'entry' ? existing.entry : entry;
				return {plan: emptyPlan, result: {lastHeartbeat, joinedAt: enqueueTime}};
			}

			const plan = planJoin(entry, world.host.hostname, joinedAt);
			if (!isLimited) {
				return {plan, result};
			}

			requireWithinMaxWaiting(waiting, limits, requester.account);
			const whole = {kind: 'queue', scope: 'whole', ids: snapshot.queue.map((record) => record.id)} as const;
			return {plan: {...plan, expect: [...plan.expect, ...policyExpectations(snapshot), whole]}, result};
		},
		shownBy: 'queue',
	});
};
