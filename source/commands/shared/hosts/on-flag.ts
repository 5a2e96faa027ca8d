/** `--on`, apart from what it does: every start reads the flags of its verb. */
import type {Flag} from '../../../command-line/command.js';

export const onFlag: Flag = {value: 'HOST', summary: 'on another host, by ssh', completes: 'hosts'};

export const onAnyFlag: Flag = {
	value: 'HOST',
	summary: 'on another host, by ssh; any: on whichever of remote_hosts serves it first',
	completes: 'hosts',
};
