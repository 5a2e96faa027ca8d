/** Changing the policy of the pool: all that is asked for at once, or nothing. */
import type {World} from '../model/ports.js';
import type {Requester, Snapshot} from '../model/types.js';
import {planPolicy, planPolicyRemoval, type PolicyChange, type PolicyChanged} from '../rules/policy/policy.js';
import type {AuditContext} from '../rules/leases/audit-entries.js';
import {transact} from './transact.js';

const contextOf = ({host}: World, {account}: Requester, {now}: Snapshot): AuditContext => ({
	now,
	host: host.hostname,
	account,
});

/**
Sets and unsets keys of the policy.

@returns The keys whose value is another one now, each with the value before.
@throws CanhazgpuError `usage` or `impossible` for a value that a key cannot have, `pool-garbage` when the record cannot be read.
*/
export const changePolicy = async (
	world: World,
	requester: Requester,
	changes: readonly PolicyChange[],
): Promise<readonly PolicyChanged[]> =>
	transact<readonly PolicyChanged[]>(world, {
		attempt(snapshot) {
			const {plan, changed} = planPolicy(snapshot, changes, contextOf(world, requester, snapshot));
			return {plan, result: changed};
		},
	});

/**
Removes the whole policy, also one that cannot be read.

@returns The keys that were set; `all` for a record that could not be read.
@throws CanhazgpuError `pool-garbage` when the record cannot be replaced.
*/
export const removePolicy = async (world: World, requester: Requester): Promise<readonly PolicyChanged[]> =>
	transact<readonly PolicyChanged[]>(world, {
		attempt(snapshot) {
			const {plan, changed} = planPolicyRemoval(snapshot, contextOf(world, requester, snapshot));
			return {plan, result: changed};
		},
	});
