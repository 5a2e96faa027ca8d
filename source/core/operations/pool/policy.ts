/** Changing the policy of the pool: all that is asked for at once, or nothing. */
import type {Requester} from '../../model/types.js';
import {planPolicy, planPolicyReplacement, type PolicyChange, type PolicyChanged} from '../../rules/policy/policy.js';
import {auditContextOf} from '../../rules/leases/audit-entries.js';
import {transact} from '../transact.js';
import {requireLocal, type EngineWorld} from '../engine.js';

const change = async (
	plan: typeof planPolicy,
	world: EngineWorld,
	requester: Requester,
	changes: readonly PolicyChange[],
): Promise<readonly PolicyChanged[]> => {
	requireLocal(world, 'policy');
	return transact<readonly PolicyChanged[]>(world, {
		attempt(snapshot) {
			const {changed, ...planned} = plan(snapshot, changes, auditContextOf(world, requester, snapshot));
			return {...planned, result: changed};
		},
	});
};

/**
Sets and unsets keys of the policy.

@returns The keys whose value is another one now, each with the value before.
@throws CanhazgpuError `usage` or `impossible` for a value that a key cannot have, `pool-garbage` when the record cannot be read.
*/
export const changePolicy = async (world: EngineWorld, requester: Requester, changes: readonly PolicyChange[]) =>
	change(planPolicy, world, requester, changes);

/**
Replaces the whole policy, also one that cannot be read, by these settings alone; by none, if none are given.

@returns The keys whose value is another one now; `all` for a record that could not be read.
@throws CanhazgpuError `usage` or `impossible` for a value that a key cannot have, `pool-garbage` when the record cannot be replaced.
*/
export const replacePolicy = async (world: EngineWorld, requester: Requester, settings: readonly PolicyChange[] = []) =>
	change(planPolicyReplacement, world, requester, settings);
