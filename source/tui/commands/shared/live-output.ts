import type {CommandLine} from '../../ports.js';
import {openedLiveOutput, type Output} from '../../state/command-line/state.js';
import type {EffectContext} from '../command.js';

/** Opens an output that updates itself, if the line is a command with such an output. Otherwise returns false. */
export function openLiveOutput({store}: EffectContext, commandLine: CommandLine, line: string, from?: Output): boolean {
	const liveOutput = commandLine.liveOutputOf?.(line);
	if (liveOutput !== undefined) {
		store.dispatch({kind: 'opened', dialog: openedLiveOutput(`$ ${commandLine.inShell(line)}`, liveOutput, from)});
	}

	return liveOutput !== undefined;
}
