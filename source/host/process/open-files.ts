import process from 'node:process';
import {callersOpenFiles, ownOpenFiles} from '../inherited/inherited.js';
import {runTool} from '../tool/spawn.js';

/** This process needs some files for itself. */
const leastOpenFiles = 256;

/**
Lowers our own soft limit of open files to what it was before Node raised it, so that a job inherits the caller's. A job is started with the
right limit also where this fails or has not happened yet. Never rejects.
*/
export const restoreOpenFiles = async (): Promise<void> => {
	const wanted = callersOpenFiles();
	if (wanted !== undefined && wanted !== ownOpenFiles() && !(Number(wanted) < leastOpenFiles)) {
		await runTool('prlimit', [`--pid=${process.pid}`, `--nofile=${wanted}:`], {timeoutMs: 2000});
	}
};
