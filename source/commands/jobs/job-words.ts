import {CanhazgpuError} from '../../errors.js';
import type {Input} from '../../command-line/command.js';

/** Returns the ids that are typed after the name of the command: `7 8_2` or `7,8_2`. Throws `usage` if no id is typed. */
export function jobIdsOf({words}: Input, command: string): readonly [string, ...string[]] {
	const [first, ...others] = words.flatMap((word) => word.split(',')).filter((word) => word !== '');
	if (first === undefined) {
		throw new CanhazgpuError('usage', `${command} needs the id of a job`, {
			hint: `For example: canhazgpu ${command} 7. See the ids: canhazgpu jobs`,
		});
	}

	return [first, ...others];
}

export function jobIdOfInput(input: Input, command: string): string {
	const [id, another] = jobIdsOf(input, command);
	if (another !== undefined) {
		throw new CanhazgpuError('usage', `${command} takes only one job id, but was also given ${another}`, {
			hint: `Run the command once for each job: canhazgpu ${command} ${id}`,
		});
	}

	return id;
}
