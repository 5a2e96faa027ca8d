import {CanhazgpuError} from '../../errors.js';
import type {World} from '../model/ports.js';
import type {Requester} from '../model/types.js';
import {auditContextOf} from '../rules/leases/audit-entries.js';
import {planExtend} from '../rules/leases/lease-changes.js';
import {requireEndWithin} from '../rules/limits/limits.js';
import {agentRenewalSeconds, checkAgentDuration} from '../rules/policy/agents.js';
import {policyExpectations} from '../rules/policy/policy.js';
import type {ExtendResult} from './engine.js';
import {ownHoldings, type JobLease} from './job-lease.js';
import {limitsFor} from './limits.js';
import {transact} from './transact.js';

type Renewed = Pick<ExtendResult, 'extended' | 'now'> & {readonly jobLease: JobLease; readonly seconds: number};

/**
Moves the end of this process's lease to `seconds` from now, or as far as {@link agentRenewalSeconds} allows. Throws `not-found` if the lease has
ended, `impossible` if the policy allows less time.
*/
export const renewJobLease = async (
	world: World,
	requester: Requester,
	{jobLease, seconds: asked}: {readonly jobLease: JobLease; readonly seconds: number | undefined},
): Promise<Renewed> =>
	transact<Renewed>(world, {
		isAboutLeases: true,
		attempt(snapshot) {
			const {now} = snapshot;
			const holdings = ownHoldings(snapshot, jobLease);
			if (holdings.length === 0) {
				throw new CanhazgpuError('not-found', 'That reservation has already ended', {
					hint: 'Nothing was changed. Reserve again.',
				});
			}

			const limits = limitsFor(world, snapshot, requester);
			const leases = holdings.map(({lease}) => lease);
			const seconds = asked ?? agentRenewalSeconds(snapshot, leases, limits['max-duration']?.value);
			const endsBy = Math.ceil(now + seconds);
			for (const {lease} of holdings) {
				if (endsBy > (lease.endsBy ?? 0)) {
					checkAgentDuration(snapshot, lease, endsBy - lease.startTime);
				}

				requireEndWithin({end: endsBy, before: lease.endsBy, now}, limits, 'Ask for less time.');
			}

			const plan = planExtend(
				holdings,
				{expiryOf: () => endsBy},
				requester.label,
				auditContextOf(world, requester, snapshot),
			);
			return {
				plan: {...plan, expect: [...plan.expect, ...policyExpectations(snapshot)]},
				result: {
					extended: holdings.map(({index, lease}) => ({index, lease, expiryTime: endsBy})),
					now,
					seconds,
					jobLease: {
						...jobLease,
						leases: new Map(
							Array.from(jobLease.leases, ([key, part]) => [key, {...part, lease: {...part.lease, endsBy}}] as const),
						),
					},
				},
			};
		},
	});
