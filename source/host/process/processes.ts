import {readFileSync, readlinkSync, statSync} from 'node:fs';
import process from 'node:process';
import type {Liveness, ProcessIdentity} from '../../core/model/types.js';
import {codeOf} from '../../errors.js';
import {hasEnded, pidsIn, type ProcessStat, readStat} from './proc.js';

/**
Returns whether processes are alive, in the given order. Never throws. Reads one file per process.
- `dead`: no such process, another process has the pid (other start time), or the process has ended and was not reaped yet.
- `stopped`: the process was stopped by a signal or a debugger.
- `unknown`: the process is hidden (hidepid), its pid or start time belongs to another namespace, or the identity is invalid.
Without /proc, only existence can be determined, because there is no start time to compare.
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

/** Whether an identity and this process are in the same namespace. True for an identity from an older version, which has no namespaces. */
const isComparable = (recorded: string | undefined, own: string | undefined): boolean =>
	recorded === undefined || recorded === own;

/** Whether this identity's start time can be compared here: the kernel shifts each start time by the offset of the reader's time namespace. */
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
		// With hidepid=2, processes of others look absent, but the kernel still refuses to signal them.
		return signalAnswer(pid) === 'ESRCH' ? 'dead' : 'unknown';
	}

	// The process with this pid has ended, whether or not it is the given one.
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

/** Sends signal 0, to a group if `pid` is negative. Returns `there`, `ESRCH` if there is no such process, or `EPERM` if it is another account's. */
const signalAnswer = (pid: number): string => {
	try {
		process.kill(pid, 0);
		return 'there';
	} catch (error) {
		return codeOf(error) ?? 'failed';
	}
};

/** Pids come from a shared store. 0 and negative numbers would mean process groups. Larger numbers are never pids. */
const isPid = (pid: number) => Number.isSafeInteger(pid) && pid > 0 && pid <= 0x7f_ff_ff_ff;

export const ownIdentity = (): ProcessIdentity => {
	const stat = readStat('self');
	return {...childIdentity(process.pid), ...(typeof stat === 'object' && {group: stat.processGroup})};
};

/** Returns the identity of a child that was not reaped yet. Even if the child has ended, no other process has its pid. */
export const childIdentity = (pid: number): ProcessIdentity => {
	const stat = readStat(pid);
	return {pid, startTicks: typeof stat === 'object' ? stat.startTicks : undefined, ...ownNamespaces()};
};

/** Returns an id of this process's namespace. Undefined if unknown or not supported. Linux before 5.6 has no time namespaces. */
const namespaceOf = (kind: 'pid' | 'time', procDirectory = '/proc'): string | undefined => {
	try {
		return /\d+/v.exec(readlinkSync(`${procDirectory}/self/ns/${kind}`))?.[0];
	} catch {
		return undefined;
	}
};

const ownNamespaces = (): Pick<ProcessIdentity, 'namespace' | 'timeNamespace'> => {
	const time = namespaceOf('time');
	return {namespace: namespaceOf('pid'), ...(time !== undefined && {timeNamespace: time})};
};

/**
Returns whether orphans of a dead process are alive. Orphans stay in the process group, and become children of pid 1 or of a
collector in another session (PR_SET_CHILD_SUBREAPER). Other members of the group, such as the rest of a pipeline or script, are still children of
their shell or are older than the dead process. `unknown`: the group has a hidden member (hidepid). Orphans that left the group are not found.
*/
export const livenessOfOrphans = (dead: ProcessIdentity, procDirectory = '/proc'): 'alive' | 'dead' | 'unknown' => {
	const {group} = dead;
	// If start times cannot be compared, all members of the group count as possible children of the job.
	const startTicks = hasOurStartTime(dead, procDirectory) ? (dead.startTicks ?? 0) : 0;
	// This cheap check comes first, because dead processes rarely leave a group with members.
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
		// The last member may have been reaped during the read of all processes, which takes a while on a busy machine.
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
	readonly uid?: number | undefined;
};

/** The uid that the kernel shows for accounts unknown to a user namespace (DEFAULT_OVERFLOWUID). */
const usualOverflowUid = 65_534;

/** Whether this uid stands for all accounts that are unknown to this namespace. */
function standsForStrangers(uid: number, procDirectory: string): boolean {
	try {
		return uid === Number(readFileSync(`${procDirectory}/sys/kernel/overflowuid`, 'latin1'));
	} catch {
		return false;
	}
}

/**
Whether a process is alive and runs as the account of this process. Also works across user namespaces: the kernel translates the owner of /proc/PID
with this process's uid map, which has no duplicates. Only the uid that stands for all unknown accounts proves nothing.
@param identity - Must have a start time, because another process could have the pid.
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
		// The owner was read before this check, so it is the owner of the process that is alive now.
		return owner === uid && ['alive', 'stopped'].includes(liveness([identity], procDirectory)[0]!);
	} catch {
		return false;
	}
}
