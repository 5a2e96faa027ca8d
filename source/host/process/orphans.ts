import {readdirSync} from 'node:fs';
import type {ProcessIdentity} from '../../core/model/types.js';
import {hasEnded, type ProcessStat, readStat} from './proc.js';
import {hasOurStartTime, signalAnswer} from './processes.js';

/**
Whether something lives that a process has started which itself is dead. Who is left behind stays in the process group, and falls to the
first process of all or to one of another session that collects such (PR_SET_CHILD_SUBREAPER). Others of the group, such as the rest of a
pipeline or of a script, still have their shell, or were there before.

`unknown` when there is somebody in that group whom we cannot see (hidepid). What has left the group is not found.
*/
export const livenessOfOrphans = (dead: ProcessIdentity, procDirectory = '/proc'): 'alive' | 'dead' | 'unknown' => {
	const {group} = dead;
	// Where the start time cannot be compared, everybody of the group may have been started by it.
	const startTicks = hasOurStartTime(dead, procDirectory) ? (dead.startTicks ?? 0) : 0;
	// Hardly ever is there such a group at all, and to ask costs nothing.
	if (group === undefined || group <= 1 || signalAnswer(-group) === 'ESRCH') {
		return 'dead';
	}

	const stats = readAll(procDirectory);
	const members = stats
		.values()
		.filter(({processGroup}) => processGroup === group)
		.toArray();
	const isOrphan = (stat: ProcessStat): boolean => {
		const isLeft = stat.parentPid <= 1 || stats.get(stat.parentPid)?.session !== stat.session;
		return isLeft && stat.startTicks >= startTicks && !hasEnded(stat);
	};

	if (members.length === 0) {
		// The last of them may have been reaped while all processes were read, which takes a while on a busy machine.
		return signalAnswer(-group) === 'ESRCH' ? 'dead' : 'unknown';
	}

	return members.some((stat) => isOrphan(stat)) ? 'alive' : 'dead';
};

const readAll = (procDirectory: string): ReadonlyMap<number, ProcessStat> =>
	new Map(
		pidsIn(procDirectory).flatMap((pid) => {
			const stat = readStat(pid, procDirectory);
			return typeof stat === 'object' ? [[pid, stat] as const] : [];
		}),
	);

const pidsIn = (procDirectory: string): readonly number[] => {
	try {
		return readdirSync(procDirectory).flatMap((name) => (/^[1-9]\d*$/v.test(name) ? [Number(name)] : []));
	} catch {
		return [];
	}
};
