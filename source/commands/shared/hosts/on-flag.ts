/** Declares `--on`. The implementation is in another module, because every start reads the flags of its command and should load little. */
import type {App} from '../../../app/contract.js';
import type {Command, Flag, Input} from '../../../command-line/command.js';

export const onFlag: Flag = {value: 'HOST', summary: 'use another host by ssh', completes: 'hosts'};

export const onAnyFlag: Flag = {
	value: 'HOST',
	summary:
		'use another host by ssh; --on any chooses this host or one of remote_hosts, whichever can serve the request first',
	completes: 'hosts',
};

export function hostOf(input: Input): string | undefined {
	const host = input.text('on');
	return host === 'any' ? undefined : host;
}

/** Runs the command on the host that `--on` names. Returns undefined if that is this host. */
export async function runOnNamedHost(app: App, input: Input, command: Command): Promise<number | undefined> {
	if (!input.has('on')) {
		return undefined;
	}

	const {runElsewhere} = await import('./on-host.js');
	return runElsewhere(app, input, command);
}
