import type {Snapshot} from '../core/model/types.js';
import {policyProblemText} from './policy.js';
import {sanitize} from './text/text.js';

/** A move of the pool from another store. */
export type Move = {
	readonly from: string;
	readonly settings: Pick<Snapshot, 'drains' | 'drainProblem' | 'policy' | 'policyProblem'>;
};

/** Returns what a move of the pool took along and left behind, and a warning for each record of settings that cannot be read. */
export function movedTexts({from, settings}: Move): readonly string[] {
	const {drains, drainProblem, policy, policyProblem} = settings;
	const moved = [
		...(policyProblem === undefined && policy.size > 0 ? ['policy'] : []),
		...(drainProblem === undefined && drains.size > 0 ? ['list of GPUs that are out of service'] : []),
	];
	const verb = moved.length === 1 ? 'was' : 'were';
	const taken = moved.length === 0 ? '' : `The ${moved.join(' and the ')} ${verb} moved. `;
	const policyText = policyProblemText(settings);
	return [
		`${taken}Detached jobs and the history stay in ${from}.`,
		...(policyText === undefined ? [] : [`Warning: ${policyText}`]),
		...(drainProblem === undefined
			? []
			: [
					`Warning: The list of GPUs that are out of service cannot be read, so no GPU is in service. The problem: ${sanitize(drainProblem)}. Put GPUs back into service: canhazgpu admin --undrain IDS`,
				]),
	];
}
