import {limitsFor} from '../../core/operations/limits.js';
import {readForDisplay} from '../../core/operations/transact.js';
import {parseHold} from '../../core/rules/leases/durations.js';
import {agentDefaultSeconds, usualAgentSeconds} from '../../core/rules/policy/agents.js';
import type {Call} from '../tool.js';

/** Returns the requested duration in seconds, or the default for agents. Slurm has limits of its own, so the pool's policy is not read there. */
export async function durationOf({world, requester}: Call, typed: string | undefined): Promise<number> {
	if (typed !== undefined) {
		return parseHold(typed, 'duration');
	}

	if (world.engine !== undefined) {
		return usualAgentSeconds;
	}

	const snapshot = await readForDisplay(world);
	return agentDefaultSeconds(snapshot, limitsFor(world, snapshot, requester)['max-duration']?.value);
}
