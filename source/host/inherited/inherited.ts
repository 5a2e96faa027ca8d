/**
Restores what Node changes at its start, so that a job starts as it would from a shell. Node resets signals to their default action, raises the limit
of open files, and hides open files from children. source/launcher.sh records these facts in the environment before it starts Node.
*/
import {Buffer} from 'node:buffer';
import {fstatSync, readdirSync, readFileSync} from 'node:fs';
import {constants} from 'node:os';
import process from 'node:process';

/**
`PID IGNORED LIMIT FILES BYTES`: this process's pid, the ignored signals in hexadecimal as in /proc, the soft limit of open files, the open
descriptors separated by commas, and the environment as printed by od(1), or nothing if the environment is too long.
*/
export const startedVariable = 'CANHAZGPU_STARTED';

type StartFacts = {
	readonly mask: string;
	readonly openFiles: string;
	readonly descriptors: readonly number[];
	readonly environment: Uint8Array | undefined;
};

const parseStartFacts = (text: string): StartFacts | undefined => {
	const match =
		/^(?<pid>\d+) (?<mask>[\da-f]{1,16}) (?<limit>\d+|unlimited) (?<files>[\d,]*) (?<bytes>[\s\da-f]*)$/v.exec(text);
	const {pid, mask, limit, files, bytes} = match?.groups ?? {};
	// The pid proves that the value is not left over from another process.
	return pid === String(process.pid)
		? {
				mask: mask!,
				openFiles: limit!,
				descriptors: files!.split(',').map(Number),
				environment: bytes === '' ? undefined : Buffer.from(bytes!.replaceAll(/\s/gv, ''), 'hex'),
			}
		: undefined;
};

let startFacts: StartFacts | undefined;
let descriptors: readonly number[] | undefined;
let words: Uint8Array | undefined;

/** Reads what source/launcher.sh recorded, and restores the environment. Must be called before anything else reads the environment. */
export const takeInherited = (): void => {
	// Read first, because the library that parses the flags sets the process title, which overwrites this file.
	words = readBytes('/proc/self/cmdline');
	const text = process.env[startedVariable];
	Reflect.deleteProperty(process.env, startedVariable);
	startFacts = text === undefined ? undefined : parseStartFacts(text);
	descriptors = process.versions['bun'] === undefined ? startFacts?.descriptors : filesOpenInBun();
	if (startFacts?.environment !== undefined) {
		restoreEnvironment(startFacts.environment);
	}
};

/** Restores the original environment, because sh increments SHLVL, for example, and drops exported functions of bash. */
const restoreEnvironment = (bytes: Uint8Array): void => {
	const given = new Map(
		Buffer.from(bytes)
			.toString('utf8')
			.split('\0')
			.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)] as const)
			.filter(([name]) => name !== '')
			// If a name occurs twice, the first entry counts.
			.toReversed(),
	);
	for (const name of Object.keys(process.env)) {
		if (!given.has(name)) {
			Reflect.deleteProperty(process.env, name);
		}
	}

	for (const [name, value] of given) {
		// A value with invalid UTF-8 has U+FFFD in both environments, and stays as it is.
		if (process.env[name] !== value && !name.includes('\u{FFFD}')) {
			process.env[name] = value;
		}
	}
};

const readBytes = (file: string): Uint8Array => {
	try {
		return readFileSync(file);
	} catch {
		return new Uint8Array();
	}
};

/** The command line of this process at its start. Each word ends in NUL. Empty if unreadable. */
export const startedWords = (): Uint8Array => words ?? readBytes('/proc/self/cmdline');

let environment: Uint8Array | undefined;

/** The environment of this process at its start. Each entry ends in NUL. */
export const startedEnvironment = (): Uint8Array => {
	environment ??= startFacts?.environment ?? readBytes('/proc/self/environ');
	return environment;
};

/** Reads a file as UTF-8. Returns an empty text if the file cannot be read. */
export const readText = (file: string): string => Buffer.from(readBytes(file)).toString('utf8');

/** The only signals that Bun itself ignores from its start, whatever the caller had set. */
const ignoredByBun: ReadonlySet<number> = new Set([constants.signals.SIGPIPE, constants.signals.SIGXFSZ]);

const readMask = (): string | undefined =>
	process.versions['bun'] === undefined
		? startFacts?.mask
		: /^SigIgn:\s*(?<mask>[\da-f]+)$/mv.exec(readText('/proc/self/status'))?.groups?.['mask'];

let known: {readonly signals: ReadonlySet<number> | undefined} | undefined;

/** Returns the signal numbers in a mask of /proc. Omits signals from 32 on, which children inherit anyway. */
export const signalsOf = (mask: string): ReadonlySet<number> => {
	const low = Number.parseInt(mask.slice(-8), 16);
	const numbers = new Set<number>();
	for (let number = 1; number <= 31; number++) {
		// eslint-disable-next-line no-bitwise -- bit n - 1 stands for signal n
		if (((low >>> (number - 1)) & 1) === 1) {
			numbers.add(number);
		}
	}

	return numbers;
};

/** Returns the signals that were ignored when this process was started. Undefined if unknown. Must be called before any signal listener is added. */
export const signalsIgnoredAtStart = (): ReadonlySet<number> | undefined => {
	if (known === undefined) {
		const mask = readMask();
		const signals = mask === undefined ? undefined : signalsOf(mask);
		known = {
			signals: process.versions['bun'] === undefined ? signals : signals?.difference(ignoredByBun),
		};
	}

	return known.signals;
};

const openFilesOf = (pid: number | 'self') =>
	/^Max open files\s+(?<soft>\d+|unlimited)\s+(?<hard>\d+|unlimited)\s/mv.exec(readText(`/proc/${pid}/limits`))?.groups;

export const ownOpenFiles = (): string | undefined => openFilesOf('self')?.['soft'];

const atMost = (limit: string | undefined): number => (limit === 'unlimited' ? Infinity : Number(limit));

/** Returns the soft limit of open files at the start. If unknown, returns the parent's limit. Ignores a limit above this process's hard limit. */
export const callersOpenFiles = (): string | undefined => {
	const limit = startFacts?.openFiles ?? openFilesOf(process.ppid)?.['soft'];
	return atMost(limit) > atMost(openFilesOf('self')?.['hard']) ? undefined : limit;
};

const isFileOrStream = (descriptor: number): boolean => {
	try {
		const status = fstatSync(descriptor);
		return (
			status.isFile() || status.isFIFO() || status.isSocket() || status.isCharacterDevice() || status.isDirectory()
		);
	} catch {
		// This descriptor was open only to list the others.
		return false;
	}
};

/** Returns the descriptors of files and streams. Excludes the event queues that Bun itself opened. */
const filesOpenInBun = (): readonly number[] | undefined => {
	try {
		return readdirSync('/proc/self/fd')
			.map(Number)
			.filter((descriptor) => isFileOrStream(descriptor));
	} catch {
		return undefined;
	}
};

export const descriptorsAtStart = (): readonly number[] | undefined => descriptors;
