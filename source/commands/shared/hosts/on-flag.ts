/** `--on`, apart from what it does: every start reads the flags of its verb. */
import type {App} from '../../../app/contract.js';
import type {Command, Flag, Input} from '../../../command-line/command.js';

export const onFlag: Flag = {value: 'HOST', summary: 'use another host by ssh', completes: 'hosts'};

export const onAnyFlag: Flag = {
	value: 'HOST',
	summary: 'use another host by ssh; with any, the first of remote_hosts that can serve you',
	completes: 'hosts',
};

/** The node of a cluster that `--on` names, where another engine has several. Undefined: any will do. */
export function hostOf(input: Input): string | undefined {
	const host = input.text('on');
	return host === 'any' ? undefined : host;
}

/**
Runs the verb on the host that `--on` names, if it names another one.

@returns The exit code there. Undefined: the verb is for this host.
*/
export async function runOnNamedHost(app: App, input: Input, command: Command): Promise<number | undefined> {
	if (!input.has('on')) {
		return undefined;
	}

	const {runElsewhere} = await import('./on-host.js');
	return runElsewhere(app, input, command);
}
