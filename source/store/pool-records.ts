/**
Small files that say where a pool is: `pool.json`, which `admin` leaves for everybody on the machine, and `found.json`, which a
user's own visits leave for that user. They hold no secrets.
*/
import {
	chmodSync,
	closeSync,
	fchmodSync,
	mkdirSync,
	openSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import type {PoolRecord} from '../core/types.js';
import {CanhazgpuError} from '../errors.js';

const schema = v.variant('store', [
	v.object({
		store: v.literal('redis'),
		host: v.pipe(v.string(), v.minLength(1)),
		port: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(65_535)),
		db: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
		socket: v.optional(v.pipe(v.string(), v.startsWith('/'))),
	}),
	v.object({store: v.literal('embedded'), directory: v.pipe(v.string(), v.startsWith('/'))}),
]);

const parse = (text: string): unknown => {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
};

/**
@returns Undefined when there is no such file.
@throws CanhazgpuError `store-unreachable` for one that is there and makes no sense: guessing on could hand one GPU to two people.
*/
export function readPoolRecord(file: string): PoolRecord | undefined {
	let text: string;
	try {
		text = readFileSync(file, 'utf8');
	} catch (error) {
		const {code} = error as NodeJS.ErrnoException;
		if (code === 'ENOENT' || code === 'ENOTDIR') {
			return undefined;
		}

		throw new CanhazgpuError(
			'store-unreachable',
			`Cannot read ${file}, which says where the GPU pool is: ${code ?? 'unknown error'}`,
			{
				hint: 'Ask the administrator of this machine to let you into the group of the pool.',
				cause: error,
			},
		);
	}

	const result = v.safeParse(schema, parse(text));
	if (!result.success) {
		throw new CanhazgpuError('store-unreachable', `${file} should say where the GPU pool is, and makes no sense`, {
			hint: 'Remove it. Where a pool was made for everybody, make that anew as it was: canhazgpu admin --force',
		});
	}

	return result.output;
}

export type RecordModes = {
	/**
	Permissions of the directory, when it is made here.
	*/
	readonly directoryMode: number;
	readonly fileMode: number;
};

/** Written whole or not at all, with exactly these permissions, whatever the umask. Throws what the file system says. */
export function writePoolRecord(file: string, record: PoolRecord, {directoryMode, fileMode}: RecordModes): void {
	const directory = path.dirname(file);
	if (mkdirSync(directory, {recursive: true, mode: directoryMode}) !== undefined) {
		chmodSync(directory, directoryMode);
	}

	// Of a name that nobody foresees: others may write in that directory, and have put a link in its place.
	const temporary = `${file}.${crypto.randomUUID()}`;
	const descriptor = openSync(temporary, 'wx', fileMode);
	try {
		try {
			fchmodSync(descriptor, fileMode);
			writeFileSync(descriptor, `${JSON.stringify(record)}\n`);
		} finally {
			closeSync(descriptor);
		}

		renameSync(temporary, file);
	} catch (error) {
		rmSync(temporary, {force: true});
		throw error;
	}
}
