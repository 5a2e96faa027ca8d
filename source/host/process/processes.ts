import {readlinkSync} from 'node:fs';
import process from 'node:process';
import type {Liveness, ProcessIdentity} from '../../core/model/types.js';
import {hasEnded, readStat} from './proc.js';

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
	const own = {namespace: pidNamespace(procDirectory), timeNamespace: timeNamespace(procDirectory)};
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
export const hasOurStartTime = (identity: ProcessIdentity, procDirectory = '/proc'): boolean =>
	isComparable(identity.timeNamespace, timeNamespace(procDirectory));

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

	// One that has ended is not the one meant, or that one has ended.
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

/**
What the kernel says to a signal that does nothing: `there`, `ESRCH` when there is no such process, `EPERM` when it is somebody else's. Of a
process group by its negative number.
*/
export const signalAnswer = (pid: number): string => {
	try {
		process.kill(pid, 0);
		return 'there';
	} catch (error) {
		return (error as NodeJS.ErrnoException).code ?? 'failed';
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

const namespaceOf = (kind: 'pid' | 'time', procDirectory: string): string | undefined => {
	try {
		return /\d+/v.exec(readlinkSync(`${procDirectory}/self/ns/${kind}`))?.[0];
	} catch {
		return undefined;
	}
};

const pidNamespace = (procDirectory = '/proc'): string | undefined => namespaceOf('pid', procDirectory);

/** Undefined as well where the kernel has no such namespaces (before Linux 5.6). */
const timeNamespace = (procDirectory = '/proc'): string | undefined => namespaceOf('time', procDirectory);

/** What pids and start times count in for this process. */
const ownNamespaces = (): Pick<ProcessIdentity, 'namespace' | 'timeNamespace'> => {
	const time = timeNamespace();
	return {namespace: pidNamespace(), ...(time !== undefined && {timeNamespace: time})};
};
