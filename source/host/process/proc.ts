import {readdirSync, readFileSync} from 'node:fs';

/** The fields of /proc/PID/stat (proc_pid_stat(5)). */
export type ProcessStat = {
	/** The kernel's short name, at most 15 bytes. */
	readonly comm: string;
	/** State as one letter, such as `R`, `S`, `D`, `T`, `t`, `Z` or `X`. */
	readonly state: string;
	readonly parentPid: number;
	readonly processGroup: number;
	readonly session: number;
	/** Device number of the controlling terminal, or 0 without one. */
	readonly terminal: number;
	/** The process group that gets signals from the terminal's keys, or -1 without a terminal. */
	readonly foregroundGroup: number;
	readonly threads: number;
	/** User and system CPU time of the process so far, in clock ticks. */
	readonly cpuTicks: number;
	/** Clock ticks since boot. */
	readonly startTicks: number;
	/** Memory in RAM, in pages. 0 if not reported, and for kernel threads. */
	readonly residentPages: number;
};

/** Parses /proc/PID/stat. Splits only the text after the last `)`, because the program's name before it can contain spaces and parentheses. */
export const parseStat = (text: string): ProcessStat | undefined => {
	const open = text.indexOf('(');
	const close = text.lastIndexOf(')');
	if (open === -1 || close < open) {
		return undefined;
	}

	// The first field here is field 3 of the man page.
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

/** Returns the stat of a process. `missing`: there is no such process. `unreadable`: the process exists, but its stat cannot be read. */
export const readStat = (pid: number | 'self', directory = '/proc'): ProcessStat | 'missing' | 'unreadable' => {
	try {
		return parseStat(readFileSync(`${directory}/${pid}/stat`, 'latin1')) ?? 'unreadable';
	} catch (error) {
		const {code} = error as NodeJS.ErrnoException;
		// ESRCH: the process ended after the file was opened.
		return code === 'ENOENT' || code === 'ESRCH' ? 'missing' : 'unreadable';
	}
};

/** Whether all threads have ended. If only the first thread has ended (pthread_exit), the process looks like a zombie although other threads run. */
export const hasEnded = ({state, threads}: Pick<ProcessStat, 'state' | 'threads'>) =>
	/^x$/iv.test(state) || (state === 'Z' && threads <= 1);

export const pidsIn = (directory = '/proc'): readonly number[] => {
	try {
		return readdirSync(directory).flatMap((name) => (/^[1-9]\d*$/v.test(name) ? [Number(name)] : []));
	} catch {
		return [];
	}
};
