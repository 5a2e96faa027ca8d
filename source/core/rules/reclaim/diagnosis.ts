/** Reports that this account cannot see enough to return idle GPUs. */
import type {Observation} from '../../model/types.js';
import {idleRulesOf} from '../policy/idle-rules.js';
import type {StoredPolicy} from '../policy/policy.js';
import type {Finding} from '../pool/diagnosis.js';
import {gpusSeenIn} from './sight.js';

export function judgeView(
	policy: StoredPolicy,
	observation: Observation,
	pidNamespace: string | undefined,
): readonly Finding[] {
	const seen = new Set(gpusSeenIn(observation, pidNamespace));
	const hidden = observation.gpus.filter(({index, failure}) => failure === undefined && !seen.has(index));
	return idleRulesOf(policy) === undefined || hidden.length === 0
		? []
		: [
				{
					check: 'pool',
					level: 'warning',
					words: `Processes may be hidden from here on GPU ${hidden.map(({index}) => index).join(', ')}, so only programs that see them can return these GPUs when they are idle`,
					fix: 'Run canhazgpu keep outside of containers: sudo systemctl enable --now canhazgpu-keep. Or share the pid namespace of the host (docker run --pid=host)',
				},
			];
}
