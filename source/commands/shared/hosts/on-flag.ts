/** `--on`, apart from what it does: every start reads the flags of its verb. */
import type {Flag, Input} from '../../../command-line/command.js';

export const onFlag: Flag = {value: 'HOST', summary: 'on another host, by ssh', completes: 'hosts'};

export const onAnyFlag: Flag = {
	value: 'HOST',
	summary: 'on another host, by ssh; any: on whichever of remote_hosts serves it first',
	completes: 'hosts',
};

/** The node of a cluster that `--on` names, where another engine has several. Undefined: any will do. */
export function hostOf(input: Input): string | undefined {
	const host = input.text('on');
	return host === 'any' ? undefined : host;
}
