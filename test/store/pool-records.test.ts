/** The small files that tell where the pool is, and who can read them. */
import {mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {readPoolRecord, writePoolRecord} from '../../source/store/pool-records.js';

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

test('what is for everybody can be read by everybody, whatever the umask of whoever made it', () => {
	const file = path.join(directory, 'new', 'pool.json');
	// A worker has no umask of its own to set, so the modes are ones that any umask takes something from.
	writePoolRecord(file, record, {directoryMode: 0o777, fileMode: 0o666});
	expect([modeOf(path.dirname(file)), modeOf(file)]).toEqual([0o777, 0o666]);
	expect(readPoolRecord(file)).toEqual(record);
});

test('a directory that is there keeps its permissions', () => {
	const before = modeOf(directory);
	writePoolRecord(path.join(directory, 'pool.json'), record, forAll);
	expect(modeOf(directory)).toBe(before);
});

test('a link that somebody left in its place leads nowhere, and nothing else is left behind', () => {
	const precious = path.join(directory, 'precious');
	const file = path.join(directory, 'pool.json');
	writeFileSync(precious, 'kept');
	symlinkSync(precious, file);
	symlinkSync(precious, `${file}.${process.pid}`);
	writePoolRecord(file, record, forAll);
	expect(statSync(precious).size).toBe('kept'.length);
	expect(readPoolRecord(file)).toEqual(record);
	expect(readdirSync(directory).toSorted()).toEqual(['pool.json', `pool.json.${process.pid}`, 'precious'].toSorted());
});

test('what cannot be put in its place leaves nothing behind', () => {
	expect(() => {
		writePoolRecord(directory, record, forAll);
	}).toThrow();
	expect(
		readdirSync(path.dirname(directory)).filter((name) => name.startsWith(`${path.basename(directory)}.`)),
	).toEqual([]);
});
