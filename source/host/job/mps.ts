/** The daemon of NVIDIA's Multi-Process Service, by which several processes share one GPU with a limit of memory each. */
import {readFileSync, statSync} from 'node:fs';
import path from 'node:path';

/** The daemon's default directory. CUDA_MPS_PIPE_DIRECTORY overrides it. */
const usualDirectory = '/tmp/nvidia-mps';

/** How the kernel names the daemon: the first 15 characters of `nvidia-cuda-mps-control`. */
const daemonName = 'nvidia-cuda-mps';

/** The daemon of an account serves that account alone. */
type MpsDaemon = {readonly directory: string; readonly isRunning: boolean};

/**
Finds a daemon of this account, by the pid that it leaves where it listens. Never throws: what cannot be read is no daemon.

@param environment - `CUDA_MPS_PIPE_DIRECTORY` says where.
@param uid - Of the account.
*/
export function findMpsDaemon(environment: Readonly<Record<string, string | undefined>>, uid: number): MpsDaemon {
	const {CUDA_MPS_PIPE_DIRECTORY: given = ''} = environment;
	const directory = given === '' ? usualDirectory : given;
	try {
		const pid = Number(readFileSync(path.join(directory, 'nvidia-cuda-mps-control.pid'), 'utf8').trim());
		const isDaemon =
			Number.isSafeInteger(pid) && pid > 0 && readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === daemonName;
		return {directory, isRunning: isDaemon && statSync(`/proc/${pid}`).uid === uid};
	} catch {
		return {directory, isRunning: false};
	}
}
