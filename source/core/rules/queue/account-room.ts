import type {AccountRoom} from '../../model/other-hosts.js';
import type {Snapshot} from '../../model/types.js';
import type {Limit} from '../limits/limits.js';
import {policyValue} from '../policy/policy.js';
import {accountLimitsSeen} from './account-limits.js';

/** Returns how many more GPUs an account can get under its `max-gpus`. `--on any` uses this to compare hosts. Undefined without a limit. */
export function accountRoomOf(snapshot: Snapshot, account: string, limit: Limit | undefined): AccountRoom | undefined {
	if (limit === undefined) {
		return undefined;
	}

	const {overLimitFor} = accountLimitsSeen(snapshot, {account, limit});
	let leftGpus = Math.min(limit.value, snapshot.gpus.length);
	while (leftGpus > 0 && overLimitFor(leftGpus) !== undefined) {
		leftGpus--;
	}

	return {mostGpus: limit.value, leftGpus, hasSlack: policyValue(snapshot, 'limits.slack') === 'on'};
}
