import {readFileSync, readlinkSync, statSync} from 'node:fs';
import process from 'node:process';
import type {Liveness, ProcessIdentity} from '../../core/model/types.js';
import {codeOf} from '../../errors.js';
import {hasEnded, pidsIn, type ProcessStat, readStat} from './proc.js';

/**
Tells whether processes still live, one answer each, in order. Never throws and never waits: a file read each.

- `dead`: no such process, or another one bears that pid now (other start time), or it has ended and is only not yet reaped.
- `stopped`: by a signal or a debugger.
- `unknown`: it cannot be told, because the process is hidden from us (hidepid), counts in another pid namespace or in one that cannot be
  compared with ours, because its start was read in another time namespace, or because the identity makes no sense.

Without /proc only presence can be known, since there is no start time to compare.
*/
export const liveness = (processes: readonly ProcessIdentity[], procDirectory = '/proc'): readonly Liveness[] => {
	const proc = typeof readStat('self', procDirectory) === 'object';
	const own = {namespace: namespaceOf('pid', procDirectory), timeNamespace: namespaceOf('time', procDirectory)};
	return processes.map((identity) => {
		const {pid} = identity;
		if (!isComparable(identity.namespace, own.namespace) || !isPid(pid)) {
			return 'unknown';
		}

		return proc
			? judgeByProc(identity, isComparable(identity.timeNamespace, own.timeNamespace), procDirectory)
			: judgeBySignal(pid);
	});
};

/** An identity that names no namespace is an older one, and was always compared. */
const isComparable = (recorded: string | undefined, own: string | undefined): boolean =>
	recorded === undefined || recorded === own;

/** Whether the start time in this identity was read as we read such times: the kernel shifts them by the time namespace of the reader. */
const hasOurStartTime = (identity: ProcessIdentity, procDirectory = '/proc'): boolean =>
	isComparable(identity.timeNamespace, namespaceOf('time', procDirectory));

const judgeByProc = (
	{pid, startTicks}: ProcessIdentity,
	isStartComparable: boolean,
	procDirectory: string,
): Liveness => {
	const stat = readStat(pid, procDirectory);
	if (stat === 'unreadable') {
		return 'unknown';
	}

	if (stat === 'missing') {
		// Under hidepid=2 the processes of others look absent, yet the kernel still refuses to signal them.
		return signalAnswer(pid) === 'ESRCH' ? 'dead' : 'unknown';
	}

	// Whether this is the process that is meant or another with its pid: the one that is meant has ended.
	if (hasEnded(stat)) {
		return 'dead';
	}

	if (startTicks !== undefined && (!isStartComparable || stat.startTicks !== startTicks)) {
		return isStartComparable ? 'dead' : 'unknown';
	}

	return /^t$/iv.test(stat.state) ? 'stopped' : 'alive';
};

const judgeBySignal = (pid: number): Liveness => {
	const answer = signalAnswer(pid);
	return answer === 'ESRCH' ? 'dead' : answer === 'there' || answer === 'EPERM' ? 'alive' : 'unknown';
};

/** Sends signal 0. Returns `there`, `ESRCH` for a missing process, or `EPERM` for another account's. A negative number is a process group. */
const signalAnswer = (pid: number): string => {
	try {
		process.kill(pid, 0);
		return 'there';
	} catch (error) {
		return codeOf(error) ?? 'failed';
	}
};

/** Pids come out of a shared store: 0 and negative numbers would mean process groups, larger ones nothing. */
const isPid = (pid: number) => Number.isSafeInteger(pid) && pid > 0 && pid <= 0x7f_ff_ff_ff;

/** This process, with its start time, pid namespace and process group where the system tells them. */
export const ownIdentity = (): ProcessIdentity => {
	const stat = readStat('self');
	return {...childIdentity(process.pid), ...(typeof stat === 'object' && {group: stat.processGroup})};
};

/** The identity of a child that we have not reaped yet: it may have ended already, but its pid is still its own. */
export const childIdentity = (pid: number): ProcessIdentity => {
	const stat = readStat(pid);
	return {pid, startTicks: typeof stat === 'object' ? stat.startTicks : undefined, ...ownNamespaces()};
};

/** Undefined as well where the kernel has no such namespaces, as those of time before Linux 5.6. */
const namespaceOf = (kind: 'pid' | 'time', procDirectory = '/proc'): string | undefined => {
	try {
		return /\d+/v.exec(readlinkSync(`${procDirectory}/self/ns/${kind}`))?.[0];
	} catch {
		return undefined;
	}
};

/** Returns the namespaces in which this process sees pids and start times. */
const ownNamespaces = (): Pick<ProcessIdentity, 'namespace' | 'timeNamespace'> => {
	const time = namespaceOf('time');
	return {namespace: namespaceOf('pid'), ...(time !== undefined && {timeNamespace: time})};
};

/**
Whether something lives that a process has started which itself is dead. Who is left behind stays in the process group, and falls to the
first process of all or to one of another session that collects such (PR_SET_CHILD_SUBREAPER). Others of the group, such as the rest of a
pipeline or of a script, still have their shell, or were there before.

`unknown` when there is somebody in that group whom we cannot see (hidepid). What has left the group is not found.
*/
export const livenessOfOrphans = (dead: ProcessIdentity, procDirectory = '/proc'): 'alive' | 'dead' | 'unknown' => {
	const {group} = dead;
	// If start times cannot be compared, any process of the group may be a child.
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

type AccountOptions = {
	readonly procDirectory?: string;
	/** Ours. */
	readonly uid?: number | undefined;
};

/** The uid that the kernel shows for accounts unknown to a user namespace (DEFAULT_OVERFLOWUID). */
const usualOverflowUid = 65_534;

/** Whether the kernel shows accounts without a name of their own in this namespace by this uid. */
function standsForStrangers(uid: number, procDirectory: string): boolean {
	try {
		return uid === Number(readFileSync(`${procDirectory}/sys/kernel/overflowuid`, 'latin1'));
	} catch {
		return false;
	}
}

/**
Whether a process lives and runs as the very account that runs us, also across user namespaces: the kernel shows the owner of /proc/PID by
our own map of uids, in which no two accounts have one uid. Only the uid that stands for all unknown accounts tells nothing.

@param identity - With a start time, or another process with its pid would do.
*/
export function runsAsCaller(
	identity: ProcessIdentity,
	{procDirectory = '/proc', uid = process.getuid?.()}: AccountOptions = {},
): boolean {
	if (uid === undefined || uid === usualOverflowUid || standsForStrangers(uid, procDirectory)) {
		return false;
	}

	try {
		const owner = statSync(`${procDirectory}/${identity.pid}`).uid;
		// The owner was read first, so it is that of the process which is found alive now.
		return owner === uid && ['alive', 'stopped'].includes(liveness([identity], procDirectory)[0]!);
	} catch {
		return false;
	}
}
