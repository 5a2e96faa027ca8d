/** Finds the daemon of NVIDIA's Multi-Process Service, which lets processes share a GPU with a memory limit each. */
import {readFileSync, statSync} from 'node:fs';
import path from 'node:path';

const usualDirectory = '/tmp/nvidia-mps';

/** The daemon's name in the kernel: the first 15 characters of `nvidia-cuda-mps-control`. */
const daemonName = 'nvidia-cuda-mps';

/** The daemon of one account. It serves only that account. */
type MpsDaemon = {readonly directory: string; readonly isRunning: boolean};

/** Finds the daemon of `uid` by its pid file, in `CUDA_MPS_PIPE_DIRECTORY` if set. Never throws: if the file is unreadable, there is no daemon. */
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
