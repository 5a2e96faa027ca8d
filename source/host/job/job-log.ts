/** The files with the output of detached jobs. Only the owner can read them. */
import {Buffer} from 'node:buffer';
import {createHmac, randomBytes} from 'node:crypto';
import {
	closeSync,
	constants,
	existsSync,
	fstatSync,
	linkSync,
	mkdirSync,
	openSync,
	readSync,
	renameSync,
	rmSync,
	statSync,
	unlinkSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {CanhazgpuError, codeOf, fileProblemOf} from '../../errors.js';
import {findUnsafeLocation, isOurs} from '../../security/safe-file.js';

/* eslint-disable no-bitwise -- flags of open(2) are bits */
const newLog = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const oldLog = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/* eslint-enable no-bitwise */

const unwritable = (file: string, problem: string, cause?: unknown): CanhazgpuError =>
	new CanhazgpuError('failed', `The output of the job cannot be kept in ${file}: ${problem}`, {
		hint: 'Nothing was started. To keep the output elsewhere, set XDG_STATE_HOME to a directory of your own.',
		cause,
	});

/** Creates a directory with its parents. Node's recursive mkdir never ends if a file system such as /proc answers ENOENT. */
function makeDirectory(directory: string): void {
	if (existsSync(directory)) {
		return;
	}

	makeDirectory(path.dirname(directory));
	mkdirSync(directory, {mode: 0o700});
}

/** Creates the directory of the logs, and checks that files can be created there. Throws `failed`. */
export function prepareLogs(directory: string): void {
	const probe = path.join(directory, `.${crypto.randomUUID()}`);
	try {
		const unsafe = findUnsafeLocation(directory, {trustsOwner: false});
		if (unsafe !== undefined) {
			throw unwritable(directory, `it ${unsafe.problem}`);
		}

		makeDirectory(directory);
		closeSync(openSync(probe, newLog, 0o600));
		unlinkSync(probe);
	} catch (error) {
		throw error instanceof CanhazgpuError ? error : unwritable(directory, fileProblemOf(error), error);
	}
}

/** Returns the path of a new log file. Avoids existing files, because another pool or machine with this home directory may have used the same id. */
export function logFor(directory: string, id: string): string {
	let file = path.join(directory, `${id}.log`);
	for (let count = 2; existsSync(file); count++) {
		file = path.join(directory, `${id}.${count}.log`);
	}

	return file;
}

/** Opens a job's log for appending, in a file that only this account can read. With `isNew`, the file must not exist yet. Throws `failed`. */
export function openLog(file: string, isNew: boolean): number {
	try {
		return isNew || !existsSync(file) ? openSync(file, newLog, 0o600) : openSync(file, oldLog);
	} catch (error) {
		throw unwritable(file, fileProblemOf(error), error);
	}
}

const keyBytes = 32;

/** Returns this account's key, or undefined. Removes a file of another length, because others could guess an incomplete key. */
function findOrDiscardKey(file: string): Uint8Array | undefined {
	if (!existsSync(file)) {
		return undefined;
	}

	const log = readLog(file);
	const key = log.read();
	log.close();
	if (key.length === keyBytes) {
		return key;
	}

	rmSync(file, {force: true});
	return undefined;
}

/** Errors of file systems without hard links, such as FAT and some network file systems. */
const noLinkCodes = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Gives a file its final name, unless another file has that name. Throws EEXIST, and other errors of the file system. */
function nameOnce(temporary: string, file: string): void {
	try {
		linkSync(temporary, file);
	} catch (error) {
		if (!noLinkCodes.has(codeOf(error) ?? '')) {
			throw error;
		}

		// If two processes rename their keys at the same moment, the later key stays, and `retry` refuses the job of the other process.
		if (!existsSync(file)) {
			renameSync(temporary, file);
		}
	}
}

/** Creates this account's key atomically, so that nobody reads a part of it. Keeps the key that another process has created meanwhile. */
function createKey(file: string): void {
	const temporary = `${file}.${crypto.randomUUID()}`;
	try {
		writeFileSync(temporary, randomBytes(keyBytes), {mode: 0o600, flag: 'wx', flush: true});
		nameOnce(temporary, file);
	} catch (error) {
		if (codeOf(error) !== 'EEXIST') {
			throw unwritable(file, fileProblemOf(error), error);
		}
	} finally {
		rmSync(temporary, {force: true});
	}
}

/** Returns this account's key from the directory of the logs. Creates the key the first time. */
function readKey(directory: string): Uint8Array {
	const file = path.join(directory, '.key');
	let key = findOrDiscardKey(file);
	if (key === undefined) {
		createKey(file);
		key = findOrDiscardKey(file);
	}

	if (key === undefined) {
		throw unwritable(file, 'it is not a key of this account');
	}

	return key;
}

/** Returns a code that only this account can compute. Every account can write to the store, so `retry` trusts the record of a job only with this code. */
export const sealOf = (directory: string, content: unknown): string =>
	createHmac('sha256', readKey(directory)).update(JSON.stringify(content)).digest('hex');

export type OpenedLog = {
	/** Returns the next bytes. Empty at the end of the file, which can grow later. */
	readonly read: () => Uint8Array;
	readonly close: () => void;
};

/** Returns the size of a log in bytes. 0 if it cannot be read. */
export function sizeOfLog(file: string): number {
	try {
		return statSync(file).size;
	} catch {
		return 0;
	}
}

/** Returns the last bytes of a log as text, without the first `start` bytes of the log. Undefined if it cannot be read. */
export function readLogEnd(file: string, length: number, start = 0): string | undefined {
	try {
		const log = readLog(file, length, start);
		const parts: Uint8Array[] = [];
		for (let bytes = log.read(); bytes.length > 0; bytes = log.read()) {
			parts.push(bytes);
		}

		log.close();
		return Buffer.concat(parts).toString();
	} catch {
		return undefined;
	}
}

/** Opens a job's log for reading. Throws `failed` if the file is missing or belongs to another account: the store's file name is not trusted. */
export function readLog(file: string, endBytes = Infinity, start = 0): OpenedLog {
	let descriptor: number | undefined;
	try {
		// eslint-disable-next-line no-bitwise -- flags of open(2) are bits
		descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY);
		const status = fstatSync(descriptor);
		if (!status.isFile() || !isOurs(status)) {
			throw new Error('it is not a file of this account');
		}

		const opened = descriptor;
		let position = Math.max(start, status.size - endBytes);
		return {
			read() {
				const bytes = new Uint8Array(65_536);
				const length = readSync(opened, bytes, 0, bytes.length, position);
				position += length;
				return bytes.subarray(0, length);
			},
			close() {
				closeSync(opened);
			},
		};
	} catch (error) {
		if (descriptor !== undefined) {
			closeSync(descriptor);
		}

		const isMissing = codeOf(error) === 'ENOENT';
		throw new CanhazgpuError(
			'failed',
			`The output of the job cannot be read: ${file}${isMissing ? ' does not exist' : `: ${fileProblemOf(error)}`}`,
			{hint: isMissing ? 'The job was never started, or somebody has removed the file.' : undefined, cause: error},
		);
	}
}
