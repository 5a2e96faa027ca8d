import type {Requester} from '../../model/types.js';
import {
	planPolicy,
	planPolicyReplacement,
	type PolicyChange,
	type PolicyChanged,
} from '../../rules/policy/policy-changes.js';
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

/** Sets and unsets policy keys, all or none. Returns the keys with a new value, and their old values. Throws like {@link planPolicy}. */
export const changePolicy = async (world: EngineWorld, requester: Requester, changes: readonly PolicyChange[]) =>
	change(planPolicy, world, requester, changes);

/** Replaces the whole policy, even an unreadable one. Returns the keys with a new value, or `all` if it was unreadable. Throws like {@link changePolicy}. */
export const replacePolicy = async (world: EngineWorld, requester: Requester, settings: readonly PolicyChange[] = []) =>
	change(planPolicyReplacement, world, requester, settings);
