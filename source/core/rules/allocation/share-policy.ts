import {CanhazgpuError, cutShort} from '../../../errors.js';
import type {Need, Snapshot} from '../../model/types.js';
import {policyDoubtOf, policyValue, type StoredPolicy} from '../policy/policy.js';
import type {Wanted} from '../request/request.js';
import {needText} from './impossible.js';
import type {Eligibility} from './need.js';
import type {ShareLimits} from './gpu-candidate.js';

export const shareLimitsOf = (need: Need | undefined, snapshot: StoredPolicy): ShareLimits | undefined =>
	need?.shareMiB === undefined ? undefined : {memoryMiB: need.shareMiB, mostShares: policyValue(snapshot, 'share.max')};

function tooFewText({count, need}: Wanted, groups: ReadonlyArray<readonly number[]>): string {
	const words = cutShort(needText(need));
	const most = Math.max(0, ...groups.map((group) => group.length));
	return most === 0
		? `This pool shares no GPU${words}`
		: `Cannot share ${count} GPUs${words}: only ${most} can be shared in this pool`;
}

/** Removes eligible GPUs that the policy does not share. Throws `impossible` if no requested GPU is left, `pool-garbage` for an unreadable policy. */
export function withinSharePolicy(
	wanted: Wanted,
	eligibility: Eligibility,
	snapshot: StoredPolicy & Pick<Snapshot, 'gpus'>,
): Eligibility {
	if (wanted.need?.shareMiB === undefined) {
		return eligibility;
	}

	const doubt = policyDoubtOf(snapshot, ['share', 'share.max', 'share.gpus']);
	if (doubt !== undefined) {
		throw new CanhazgpuError(
			'pool-garbage',
			`It is unknown whether GPUs can be shared in this pool: ${doubt.problem}`,
			{
				hint: `${doubt.fix}. Without --share you get whole GPUs.`,
				agentHint: `${doubt.fix}. Without share you get whole GPUs.`,
			},
		);
	}

	if (policyValue(snapshot, 'share') === 'off') {
		throw new CanhazgpuError('impossible', 'GPUs cannot be shared in this pool', {
			hint: 'An administrator can allow it: canhazgpu admin --set share=on. Without --share you get whole GPUs.',
			agentHint: 'An administrator can allow it: canhazgpu admin --set share=on. Without share you get whole GPUs.',
		});
	}

	const allowed = policyValue(snapshot, 'share.gpus');
	if (allowed === 'all') {
		return eligibility;
	}

	const {count, ids} = wanted;
	const refusal = (problem: string): CanhazgpuError =>
		new CanhazgpuError('impossible', problem, {
			hint: `GPUs that can be shared: ${allowed.join(', ')}. An administrator can change that: canhazgpu admin --set share.gpus=all`,
		});
	const outside = ids?.filter((id) => !allowed.includes(id)) ?? [];
	if (outside.length > 0 || (ids === undefined && allowed.length < count)) {
		throw refusal(
			outside.length > 0
				? `GPU ${outside.join(', ')} cannot be shared in this pool`
				: `Cannot share ${count} GPUs: only ${allowed.length} can be shared in this pool`,
		);
	}

	const all = snapshot.gpus.map(({index}) => index);
	const within = (eligibility.tooSmall ?? eligibility.groups ?? [ids ?? all]).map((group) =>
		group.filter((index) => allowed.includes(index)),
	);
	const groups = within.filter((group) => group.length >= count);
	const unknown = new Map([...eligibility.unknown].filter(([index]) => allowed.includes(index)));
	const isPossible = groups.length > 0 || (eligibility.isPossible && unknown.size > 0);
	if (eligibility.isPossible && !isPossible) {
		// Only the policy is in the way. Without this error, the caller would list GPUs that meet the need but cannot be shared.
		throw refusal(tooFewText(wanted, within));
	}

	return {...eligibility, groups, ...(groups.length === 0 && {tooSmall: within}), unknown, isPossible};
}
