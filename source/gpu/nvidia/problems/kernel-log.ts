import {type HealthProblem, normalizePciBusId} from '../../../core/model/observation.js';
import {cap} from '../../tool/text.js';
import {isComplete, type RunTool} from '../../tool/tool.js';

type Options = {
	readonly run: RunTool;
	readonly signal: AbortSignal;
	/** Time limit for each way to read the log. */
	readonly timeoutMs: number;
};

/** Problems of each GPU, by PCI address. */
export type LoggedProblems = ReadonlyMap<string, readonly HealthProblem[]>;

/** Why the log was not read: this account may not read it, or reading took too long. */
type Unread = 'forbidden' | 'too-slow';

/** Maximum size of the log. Each event is a line of some hundred bytes, and the kernel's ring buffer is rarely larger. */
const maxBytes = 8 * 1024 * 1024;

/** The driver's lines that {@link parseXids} reads. */
const journalPattern = String.raw`NVRM: (Xid|The NVIDIA GPU|\(PCI ID|loading NVIDIA UNIX|.*fallen off the bus)`;

/** The arguments do not include `-q`, because then journalctl would not report that the account cannot read the kernel's log. */
const journalArguments = ['-k', '-b', '--no-pager', '-o', 'short-monotonic', '-n', '2000', '--grep', journalPattern];

/** Puts the oldest entry first. `journalctl` prints the newest first if both `-n` and `--grep` are given. */
const oldestFirst = (text: string): string => {
	const entries = text
		.trimEnd()
		.split(/\n(?=\[)/v)
		.filter((entry) => entry.startsWith('['));
	const [first, last] = [entries.at(0), entries.at(-1)].map((entry = '') =>
		Number(timeForm.exec(entry)?.groups?.['seconds']),
	);
	return (first! > last! ? entries.toReversed() : entries).join('\n');
};

/** Reads the log with dmesg or, if this account may not run dmesg, from the journal. */
const readKernelLog = async ({run, signal, timeoutMs}: Options): Promise<Unread | {readonly text: string}> => {
	const limits = {timeoutMs, maxBytes, signal};
	const dmesg = await run('dmesg', [], limits);
	if (isComplete(dmesg) && dmesg.exitCode === 0) {
		return {text: dmesg.stdout};
	}

	const journal = await run('journalctl', journalArguments, limits);
	// The exit code is 1 if no entry matches.
	const isRead = journal.exitCode === 0 || (journal.exitCode === 1 && journal.stderr === '');
	if (isComplete(journal) && isRead) {
		return {text: oldestFirst(journal.stdout)};
	}

	const isEnded = [dmesg, journal].some(({failure}) => failure === 'timed-out' || failure === 'aborted');
	return isEnded ? 'too-slow' : 'forbidden';
};

type Xid = {
	readonly pciBusId: string;
	/** Number in NVIDIA's catalog. Undefined for a GPU that has fallen off the bus, which older drivers report without a number. */
	readonly number?: number;
	readonly words: string;
	/** Seconds since boot. Undefined if the log has another time format. */
	readonly atSeconds?: number;
};

/*
    [ 5107.644336] NVRM: Xid (PCI:0000:03:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
    [ 5107.644336] NVRM: Xid (PCI:0000:03:00 GPU-I:05 GPU-CI:00): 43, pid=7194, name=python3, Ch 00000008
    kernel: [  269.516977] NVRM: GPU at 0000:01:00.0 has fallen off the bus.
    [  412.101200] NVRM: GPU 0000:29:00.0: GPU has fallen off the bus.
    [ 1843.308145] NVRM: The NVIDIA GPU 0000:b3:00.0
    NVRM: (PCI ID: 10de:26b5) installed in this system has
    NVRM: fallen off the bus and is not responding to commands.
*/
const xidForm =
	/nvrm: xid \((?:pci:)?(?<address>[\da-f]{4,8}:[\da-f]{2}:[\da-f]{2})(?:\.[\da-f])?(?: gpu-[^\)]{0,40})?\): (?<number>\d{1,4})(?:,(?<words>.*))?$/iv;
const lostForm =
	/nvrm: (?:the nvidia )?gpu (?:at )?(?:pci:)?(?<address>(?:[\da-f]{4,8}:)?[\da-f]{2}:[\da-f]{2})\.[\da-f](?: |: ).*fallen off the bus/iv;
const longFormLines = 3;
const longForm = 'NVRM: The NVIDIA GPU ';
const timeForm = /\[\s*(?<seconds>\d{1,12}\.\d{1,9})\]/v;

const longestLine = 2000;

/** The start of the line that the driver logs when it is loaded, which resets every GPU. The rest of the line depends on the kind of driver. */
const driverLoaded = 'NVRM: loading NVIDIA UNIX';

/** Returns the Xids in the output of `dmesg` or `journalctl -k` since the driver was last loaded. Ignores other lines. */
export const parseXids = (text: string): readonly Xid[] =>
	text
		.slice(Math.max(0, text.lastIndexOf(driverLoaded)))
		.split('\n')
		.flatMap((line, index, lines) =>
			readLine(line.includes(longForm) ? lines.slice(index, index + longFormLines).join(' ') : line),
		);

const readLine = (raw: string): readonly Xid[] => {
	const start = raw.indexOf('NVRM:');
	if (start === -1 || raw.length > longestLine) {
		return [];
	}

	const line = raw.trimEnd();
	const {address, number, words} = (xidForm.exec(line) ?? lostForm.exec(line))?.groups ?? {};
	// The default PCI domain is 0000.
	const pciBusId = normalizePciBusId(`${address?.length === 5 ? '0000:' : ''}${address}.0`);
	if (pciBusId === undefined) {
		return [];
	}

	const seconds = timeForm.exec(line.slice(0, start))?.groups?.['seconds'];
	return [
		{
			pciBusId,
			number: number === undefined ? undefined : Number(number),
			words: cap((words ?? '').trim().replace(/^pid=[^,]*, name=[^,]*,\s*/v, ''), 160),
			atSeconds: seconds === undefined ? undefined : Number(seconds),
		},
	];
};

/** The Xids of NVIDIA's catalog that mean a faulty GPU, not a faulty program (13, 31, 43, 45), a corrected (63, 92) or a contained error (94). */
const grave: ReadonlyMap<number, HealthProblem['kind']> = new Map([
	[48, 'ecc'],
	[62, 'xid'],
	[64, 'ecc'],
	[74, 'xid'],
	[79, 'fell-off-the-bus'],
	[95, 'ecc'],
	[110, 'xid'],
	[119, 'xid'],
	[120, 'xid'],
	[140, 'ecc'],
	[143, 'xid'],
]);

/** First Xid of the NVLink errors since Blackwell. Each line says whether the error is fatal. */
const firstLink = 144;
const lastLink = 150;

/** The Xid that reports a change of the driver's recommended action. */
const recoveryChanged = 154;

/** The Xid of a memory error contained to one program. The line says whether the GPU needs a reset. */
const containedError = 94;

/** Returns the logged problems of each GPU, by PCI address. Ignores entries older than `longestAgoSeconds`, because the log records no repairs. */
export const judgeXids = (xids: readonly Xid[], nowSeconds: number, longestAgoSeconds: number): LoggedProblems => {
	const problems = new Map<string, Map<string, HealthProblem>>();
	for (const {pciBusId, number, words, atSeconds = nowSeconds} of xids) {
		const known = problems.get(pciBusId) ?? new Map<string, HealthProblem>();
		problems.set(pciBusId, known);
		if (number === recoveryChanged && /to 0x0\b/iv.test(words)) {
			known.clear();
			continue;
		}

		const kind = number === undefined ? 'fell-off-the-bus' : kindOf(number, words);
		if (kind !== undefined && nowSeconds - atSeconds <= longestAgoSeconds) {
			known.set(String(number), {kind, words: describe(number, words)});
		}
	}

	const unfit = [...problems].filter(([, known]) => known.size > 0);
	return new Map(unfit.map(([gpu, known]) => [gpu, known.values().toArray()]));
};

const describe = (number: number | undefined, words: string): string => {
	const name = number === undefined ? 'fallen off the bus' : `Xid ${number}`;
	return words === '' ? name : `${name}: ${words}`;
};

const kindOf = (number: number, words: string): HealthProblem['kind'] | undefined => {
	if (number === recoveryChanged || (number === containedError && /\brst: yes\b/iv.test(words))) {
		return 'needs-reset';
	}

	return number >= firstLink && number <= lastLink && /\bfatal\b/iv.test(words) ? 'xid' : grave.get(number);
};

const longestAgoSeconds = 24 * 3600;

/** Reads the logged problems, or returns why they were not read. `uptimeSeconds` counts from boot, as in the log. */
export const readLoggedProblems = async (
	options: Options,
	uptimeSeconds: () => number,
): Promise<LoggedProblems | Unread> => {
	const log = await readKernelLog(options);
	return typeof log === 'string' ? log : judgeXids(parseXids(log.text), uptimeSeconds(), longestAgoSeconds);
};
