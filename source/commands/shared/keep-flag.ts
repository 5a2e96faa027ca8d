import {parseDuration} from '../../core/rules/leases/durations.js';
import {CanhazgpuError} from '../../errors.js';
import type {Flag, Input} from '../../command-line/command.js';

export const keepFlag: Flag = {
	value: 'TIME',
	summary: 'keep the GPUs for this time even if they are idle, such as 2h',
	completes: ['1h', '2h', '4h', '8h'],
};

export function keepSecondsOf(input: Input): number | undefined {
	const typed = input.text('keep');
	return typed === undefined ? undefined : parseDuration(typed, '--keep');
}

export const keepsNothing = (): CanhazgpuError =>
	new CanhazgpuError('usage', '--keep does not work with Slurm, which decides itself when GPUs are released', {
		hint: 'Leave out --keep.',
	});
