import type {runTool} from '../tool/spawn.js';

type Options = {
	readonly run: typeof runTool;
	readonly procDirectory: string;
	readonly monotonicMs: () => number;
};

type Running = {readonly pid: number; readonly startTicks: number};

type Reading = {readonly startTicks: number; readonly readAtMs: number; readonly text?: string};

const timeoutMs = 500;

/** A process can execute another program or change its title, so its command line is read again after this time. */
const refreshAfterMs = 60_000;

/**
Creates a reader of /proc/PID/cmdline, in which each argument ends in NUL. Omits unreadable files. The kernel waits for a process's memory lock
before it shows the command line. A process that hangs in a driver can hold that lock forever, and a thread that waits for it could not be ended and
would keep this process from ending. So a child process with a time limit reads all files that were not read recently.
*/
export const createCommandLineReader = ({run, procDirectory, monotonicMs}: Options) => {
	let known: ReadonlyMap<number, Reading> = new Map();
	let isHanging = false;

	const read = async (processes: readonly Running[]): Promise<ReadonlyMap<number, Reading>> => {
		const files = processes.map(({pid}) => `${procDirectory}/${pid}/cmdline`);
		// Prints each line after its file's name and a NUL, so that no argument can look like another file.
		const {stdout, ended} = await run('grep', ['-asHZ', '', ...files], {timeoutMs});
		if (ended !== undefined) {
			isHanging = true;
			void ended.then(() => {
				isHanging = false;
			});
		}

		const texts = splitByFile(stdout, procDirectory);
		const readAtMs = monotonicMs();
		return new Map(processes.map(({pid, startTicks}) => [pid, {startTicks, readAtMs, text: texts.get(pid)}]));
	};

	return async (processes: readonly Running[]): Promise<ReadonlyMap<number, string>> => {
		const current = new Map<number, Reading>();
		const due = processes.filter(({pid, startTicks}) => {
			const earlier = known.get(pid);
			if (earlier?.startTicks !== startTicks) {
				return true;
			}

			current.set(pid, earlier);
			return monotonicMs() - earlier.readAtMs >= refreshAfterMs;
		});

		const fresh = due.length === 0 || isHanging ? [] : await read(due);
		known = new Map([...current, ...fresh]);
		return new Map([...known].flatMap(([pid, {text}]) => (text === undefined ? [] : [[pid, text]])));
	};
};

/** Parses lines that consist of a path such as `/proc/5/cmdline`, a NUL character and one line of that file. Returns the text of each file by pid. */
const splitByFile = (output: string, procDirectory: string): ReadonlyMap<number, string> => {
	const texts = new Map<number, string>();
	for (const line of output.split('\n')) {
		const end = line.indexOf('\0');
		if (end === -1) {
			continue;
		}

		const pid = Number(line.slice(procDirectory.length + 1, end).split('/', 1)[0]);
		const earlier = texts.get(pid);
		const text = line.slice(end + 1);
		texts.set(pid, earlier === undefined ? text : `${earlier}\n${text}`);
	}

	return texts;
};
