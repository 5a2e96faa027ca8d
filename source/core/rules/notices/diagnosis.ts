import type {Finding} from '../pool/diagnosis.js';

/** The state of a target. `name` contains no URL. */
export type TargetCheck = {
	readonly name: string;
	readonly problem?: string | undefined;
	/** How long ago and why the last notice did not arrive. Undefined if it arrived. */
	readonly failure?: {readonly ageText: string; readonly reason: string} | undefined;
};

const fix = 'Try it: canhazgpu notify --test';

/** Returns a finding for each target that does not work. Returns none on a machine where only terminals are notified. */
export function judgeTargets(checks: readonly TargetCheck[]): readonly Finding[] {
	const wrong = checks.flatMap(({name, problem, failure}): readonly Finding[] =>
		problem === undefined
			? failure === undefined
				? []
				: [
						{
							check: 'notify',
							level: 'warning',
							words: `${name}: the last notice, ${failure.ageText} ago, did not arrive: ${failure.reason}`,
							fix,
						},
					]
			: [{check: 'notify', level: 'warning', words: `${name}: ${problem}`, fix}],
	);
	const isUsual = checks.every(({name}) => name === 'terminal');
	return wrong.length > 0 || isUsual
		? wrong
		: [{check: 'notify', level: 'ok', words: `notices go to ${checks.map(({name}) => name).join(', ')}`}];
}
