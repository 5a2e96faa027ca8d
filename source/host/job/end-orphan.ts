/** Ends a detached job whose wrapper was killed, as the wrapper would have ended it. */
import type {ProcessIdentity} from '../../core/model/types.js';
import {sendSignal} from '../process/send-signal.js';
import {runSystemTool} from '../tool/system-tool.js';
import {markVariable} from './job.js';
import {endJob} from './time-limit.js';

const graceSeconds = 30;

/** Returns the mark of the innermost job to which a process belongs. Reads in a child process, because the kernel can block a reader forever. */
async function markOf(pid: number): Promise<string | undefined> {
	const {stdout} = await runSystemTool('grep', ['-zsa', `^${markVariable}=`, '--', `/proc/${pid}/environ`], {
		timeoutMs: 1000,
	});
	return /,?(?<mark>[\da-f]{8}-[\d\-a-f]{27})\0?$/v.exec(stdout)?.groups?.['mark'];
}

/**
Sends SIGTERM to a job and its descendants, and after 30 seconds SIGKILL. Resolves when none runs. If the process was not started by `run`, only this
process gets SIGTERM: every account can write a job's record, and could name another process of this account there.
*/
export async function endOrphan(identity: ProcessIdentity): Promise<void> {
	const {pid, startTicks} = identity;
	const mark = sendSignal(identity, 0) === 'sent' ? await markOf(pid) : undefined;
	if (mark === undefined || startTicks === undefined) {
		sendSignal(identity, 'SIGTERM');
		return;
	}

	await endJob({job: {pid, startTicks}, mark, request: 'SIGTERM', graceSeconds});
}
