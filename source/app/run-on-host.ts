import {Buffer} from 'node:buffer';
import process from 'node:process';
import {isatty} from 'node:tty';
import {filterMarker, watchAnswer, type Patience} from '../host/tool/answering-host.js';
import {connectionFailure, sshCommand, type RemoteCommand} from '../host/tool/remote-command.js';
import {endsWithUs} from '../host/tool/system-tool.js';
import {sanitize} from '../format/text/text.js';
import type {App, HostRun} from './contract.js';
import {writeError} from './start-up/unopened-output.js';

export async function runOnHost(
	command: Omit<RemoteCommand, 'hasTerminal' | 'announces'>,
	patience: Patience,
	prepareJob: App['prepareJob'],
): Promise<HostRun> {
	const hasTerminal = isatty(0) && isatty(1);
	const words = sshCommand({...command, hasTerminal, announces: !hasTerminal});
	const startJob = await prepareJob(words, process.env, 'now');
	const [program, ...args] = words;
	let hasAnswered = false;
	const onStderr = filterMarker(
		(text) => {
			writeError(Buffer.from(text, 'latin1'));
		},
		() => {
			hasAnswered = true;
		},
	);
	// The remote command must end with this process. Otherwise a request that nobody waits for would stay in the queue and be granted GPUs.
	const entrance = endsWithUs();
	const job = await startJob({
		command: program,
		args,
		entrance,
		environment: process.env,
		...(!hasTerminal && {onStderr}),
	});
	const watching = watchAnswer(
		{
			host: sanitize(command.host),
			job,
			hasTerminal,
			hasAnswered: () => hasAnswered,
			remark(text) {
				writeError(`${text}\n`);
			},
		},
		patience,
	);
	const {exitCode} = await job.ended;
	job.letGo();
	const problem = await watching;
	return {
		exitCode: problem === undefined ? exitCode : connectionFailure,
		hasAnswered: hasTerminal ? undefined : hasAnswered,
		problem,
	};
}
