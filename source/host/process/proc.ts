import {readdirSync, readFileSync} from 'node:fs';

/** The fields of /proc/PID/stat (proc_pid_stat(5)). */
export type ProcessStat = {
	/** The kernel's short name, at most 15 bytes. */
	readonly comm: string;
	/** State as one letter: `R`, `S`, `D`, `T`, `t`, `Z`, `X` and others. */
	readonly state: string;
	readonly parentPid: number;
	readonly processGroup: number;
	readonly session: number;
	/** Device number of the controlling terminal, 0 when there is none (any more). */
	readonly terminal: number;
	/** The process group that the terminal's keys signal, -1 when there is no terminal. */
	readonly foregroundGroup: number;
	readonly threads: number;
	/** Time on processors so far, its own and the kernel's for it, in clock ticks. */
	readonly cpuTicks: number;
	/** Start time in clock ticks since boot. */
	readonly startTicks: number;
	/** Memory that is in RAM, in pages of the machine. 0 for a kernel thread, which has none of its own, and where it is not reported. */
	readonly residentPages: number;
};

/**
Reads the text of /proc/PID/stat. Undefined when it is not of that form.

The second field is the program's name in parentheses, and a name may itself hold spaces and parentheses: only what follows the
last `)` can be split.
*/
export const parseStat = (text: string): ProcessStat | undefined => {
	const open = text.indexOf('(');
	const close = text.lastIndexOf(')');
	if (open === -1 || close < open) {
		return undefined;
	}

	// Field 3 of the man page is the first here.
	const fields = text
		.slice(close + 1)
		.trim()
		.split(' ', 22);
	const [state, parentPid, ...terminal] = fields;
	const [processGroup, session, device, foregroundGroup] = terminal.slice(0, 4).map(Number);
	const [userTicks, kernelTicks] = fields.slice(11, 13).map(Number);
	const threads = fields[17];
	const startTicks = fields[19];
	const residentPages = fields[21];
	if (state === undefined || state === '' || !isCount(parentPid) || !isCount(threads) || !isCount(startTicks)) {
		return undefined;
	}

	return {
		comm: text.slice(open + 1, close),
		state,
		parentPid: Number(parentPid),
		processGroup: processGroup ?? 0,
		session: session ?? 0,
		terminal: device ?? 0,
		foregroundGroup: foregroundGroup ?? -1,
		threads: Number(threads),
		cpuTicks: (userTicks ?? 0) + (kernelTicks ?? 0),
		startTicks: Number(startTicks),
		residentPages: isCount(residentPages) ? Number(residentPages) : 0,
	};
};

const isCount = (text: string | undefined): text is string => text !== undefined && /^\d+$/v.test(text);

/** The stat of a process, `missing` when there is no such entry, `unreadable` when it exists but tells us nothing. */
export const readStat = (pid: number | 'self', directory = '/proc'): ProcessStat | 'missing' | 'unreadable' => {
	try {
		return parseStat(readFileSync(`${directory}/${pid}/stat`, 'latin1')) ?? 'unreadable';
	} catch (error) {
		const {code} = error as NodeJS.ErrnoException;
		// ESRCH: it ended between the opening and the reading.
		return code === 'ENOENT' || code === 'ESRCH' ? 'missing' : 'unreadable';
	}
};

/**
Whether nothing of the process runs any more. One whose first thread has left (pthread_exit) reads as a zombie while its other
threads work on.
*/
export const hasEnded = ({state, threads}: Pick<ProcessStat, 'state' | 'threads'>) =>
	/^x$/iv.test(state) || (state === 'Z' && threads <= 1);

/** The processes that we may see. None where there is no /proc. */
export const pidsIn = (directory = '/proc'): readonly number[] => {
	try {
		return readdirSync(directory).flatMap((name) => (/^[1-9]\d*$/v.test(name) ? [Number(name)] : []));
	} catch {
		return [];
	}
};
