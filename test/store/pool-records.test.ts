/** The small files that record where the pool is. */
import {execFileSync} from 'node:child_process';
import {
	chmodSync,
	chownSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	rmSync,
	statSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {alice, isRoot, mallory} from '../_helpers/machine/accounts.js';
import {cpuMsOf} from '../_helpers/program/timed.js';
import {keepOthersOut, readPoolRecord, writePoolRecord} from '../../source/store/pool-records.js';

let directory: string;
beforeEach(() => {
	directory = mkdtempSync(path.join(tmpdir(), 'chg-records-'));
});
afterEach(() => {
	rmSync(directory, {recursive: true});
});

const record = {store: 'embedded', directory: '/srv/pool'} as const;
const forAll = {directoryMode: 0o755, fileMode: 0o644};

// eslint-disable-next-line no-bitwise
const modeOf = (file: string) => statSync(file).mode & 0o777;

test('writePoolRecord makes the record readable by everybody, whatever the umask', () => {
	const file = path.join(directory, 'new', 'pool.json');
	// A worker of the test runner cannot set its umask, so both modes have bits that any umask would remove.
	writePoolRecord(file, record, {directoryMode: 0o777, fileMode: 0o666});
	expect([modeOf(path.dirname(file)), modeOf(file)]).toEqual([0o777, 0o666]);
});

test('writePoolRecord gives missing parents the same permissions as the directory of the record', () => {
	const parent = path.join(directory, 'missing', 'parent');
	writePoolRecord(path.join(parent, 'new', 'pool.json'), record, {directoryMode: 0o777, fileMode: 0o666});
	expect([modeOf(path.dirname(parent)), modeOf(parent)]).toEqual([0o777, 0o777]);
});

test('writePoolRecord refuses a record that readPoolRecord would refuse, and creates nothing', () => {
	expect(() => {
		const file = path.join(directory, 'new', 'pool.json');
		writePoolRecord(file, {store: 'redis', host: 'localhost', port: 6379, db: 0, socket: 'r.sock'}, forAll);
	}).toThrow('no command could read this location');
	expect(readdirSync(directory)).toEqual([]);
});

test('writePoolRecord keeps the permissions of an existing directory', () => {
	const before = modeOf(directory);
	writePoolRecord(path.join(directory, 'pool.json'), record, forAll);
	expect(modeOf(directory)).toBe(before);
});

test('writePoolRecord replaces a symbolic link at its path without following it', () => {
	const precious = path.join(directory, 'precious');
	const file = path.join(directory, 'pool.json');
	writeFileSync(precious, 'kept');
	symlinkSync(precious, file);
	symlinkSync(precious, `${file}.${process.pid}`);
	writePoolRecord(file, record, forAll);
	expect(statSync(precious).size).toBe('kept'.length);
	expect(readPoolRecord(file, 'machine')).toEqual(record);
	expect(readdirSync(directory).toSorted()).toEqual(['pool.json', `pool.json.${process.pid}`, 'precious'].toSorted());
});

test('writePoolRecord leaves no temporary file if the record cannot be moved to its path', () => {
	expect(() => {
		writePoolRecord(directory, record, forAll);
	}).toThrow();
	expect(
		readdirSync(path.dirname(directory)).filter((name) => name.startsWith(`${path.basename(directory)}.`)),
	).toEqual([]);
});

const text = JSON.stringify(record);

test.each<[what: string, put: (file: string) => void, problem: string]>([
	[
		'a FIFO',
		(file) => {
			execFileSync('mkfifo', [file]);
		},
		'it is not a regular file',
	],
	[
		'a link to a device that never ends',
		(file) => {
			symlinkSync('/dev/zero', file);
		},
		'it is not a regular file',
	],
	[
		'a link to a record',
		(file) => {
			writeFileSync(`${file}.other`, text);
			symlinkSync(`${file}.other`, file);
		},
		'it is a link',
	],
	[
		'a directory',
		(file) => {
			mkdirSync(file);
		},
		'it is a directory',
	],
	[
		'a file of a terabyte',
		(file) => {
			writeFileSync(file, text);
			truncateSync(file, 2 ** 40);
		},
		'it is longer than 16384 bytes',
	],
	[
		'a file that everybody may change',
		(file) => {
			writeFileSync(file, text);
			chmodSync(file, 0o646);
		},
		'others can change it',
	],
	[
		'a file that a group may change',
		(file) => {
			writeFileSync(file, text);
			chownSync(file, -1, isRoot ? mallory.gid : process.getgid!());
			chmodSync(file, isRoot ? 0o664 : 0o646);
		},
		'others can change it',
	],
])('readPoolRecord rejects %s at once and does not suggest --force', (_, put, problem) => {
	const file = path.join(directory, 'pool.json');
	put(file);
	let error: unknown;
	const took = cpuMsOf(() => {
		try {
			readPoolRecord(file, 'machine');
		} catch (error_) {
			error = error_;
		}
	});

	expect(error).toMatchObject({
		exitCode: 4,
		message: `Cannot read ${file}, which says where the GPU pool is: ${problem}`,
		hint: expect.not.stringContaining('--force') as string,
	});
	expect(took).toBeLessThan(1000);
});

test.each([
	'{"store":"redis","host":"-oProxyCommand=x","port":1,"db":0}',
	'{"store":"redis","host":"a b","port":1,"db":0}',
	'{"store":"redis","host":"box","port":0,"db":0}',
	'{"store":"redis","host":"box","port":1,"db":-1}',
	'{"store":"redis","host":"box","port":1,"db":1e300}',
	'{"store":"redis","host":"box","port":1,"db":0,"socket":"relative"}',
	'{"store":"embedded","directory":"relative"}',
	String.raw`{"store":"embedded","directory":"/a\u0000b"}`,
	JSON.stringify({store: 'embedded', directory: `/${'x'.repeat(5000)}`}),
	'{"store":"moon"}',
	'[]',
	'null',
	'',
	'{',
])('readPoolRecord rejects the record %s', (content) => {
	const file = path.join(directory, 'pool.json');
	writeFileSync(file, content);
	expect(() => readPoolRecord(file, 'machine')).toThrow('its content is not valid');
});

describe.runIf(isRoot)('readPoolRecord for a record of another account', () => {
	const put = (owner: number, directoryOwner: number): string => {
		const file = path.join(directory, 'pool.json');
		writeFileSync(file, text);
		chownSync(file, owner, owner);
		chownSync(directory, directoryOwner, directoryOwner);
		return file;
	};

	test('returns the record of the machine only if root alone owns the file and its directory', () => {
		expect(readPoolRecord(put(0, 0), 'machine')).toEqual(record);
		for (const [owner, directoryOwner, problem] of [
			[mallory.uid, 0, 'it belongs to another account (uid 61002)'],
			[alice.uid, alice.uid, `it is in ${directory}, which belongs to uid 61001`],
			[0, alice.uid, `it is in ${directory}, which belongs to uid 61001`],
		] as const) {
			const file = put(owner, directoryOwner);
			expect(() => readPoolRecord(file, 'machine')).toThrow(
				`Cannot read ${file}, which says where the GPU pool is: ${problem}`,
			);
		}
	});

	test("ignores a record of the user's pool that does not belong to the caller", () => {
		expect(readPoolRecord(put(0, 0), 'user')).toEqual(record);
		expect(readPoolRecord(put(alice.uid, alice.uid), 'user')).toBeUndefined();
	});
});

test('keepOthersOut makes a world-writable directory of the pool writable by its owner only', () => {
	const modes: number[] = [];
	for (const [mode, name] of [
		[0o777, 'pool.json'],
		[0o2770, 'pool.sqlite'],
		[0o1777, 'pool.json'],
		[0o777, 'other'],
		[0o700, 'other'],
	] as const) {
		const place = path.join(directory, String(modes.length));
		mkdirSync(place);
		writeFileSync(path.join(place, name), '');
		chmodSync(place, mode);
		keepOthersOut(place, ['pool.json', 'pool.sqlite']);
		// eslint-disable-next-line no-bitwise
		modes.push(statSync(place).mode & 0o7777);
	}

	expect(modes).toEqual([0o755, 0o755, 0o1777, 0o777, 0o700]);
});
