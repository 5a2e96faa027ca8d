import type {ProcessIdentity} from '../../../source/core/model/types.js';
import {hasEnded, readStat} from '../../../source/host/process/proc.js';
import {childIdentity} from '../../../source/host/process/processes.js';

/** Returns the identity of a running process, or undefined if the process is gone or hidden. */
export const identityOf = (pid: number): ProcessIdentity | undefined => {
	const stat = readStat(pid);
	return typeof stat === 'object' && !hasEnded(stat) ? childIdentity(pid) : undefined;
};
