import {chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {createLineHistory} from '../../source/app/user-file.js';
import {alice, isRoot} from '../_helpers/machine/accounts.js';
import {slowTest} from '../_helpers/slow.js';

function createFile(): string {
	const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-history-'));
	onTestFinished(() => {
		rmSync(directory, {recursive: true});
	});
	return path.join(directory, 'deep', 'history');
}

const modeOf = (place: string): string => statSync(place).mode.toString(8).slice(-3);

test('the command history of the monitor keeps each line once, newest last, in a file with mode 600', () => {
	const file = createFile();
	const history = createLineHistory(file);
	expect(history.load()).toEqual([]);
	for (const line of ['status', 'release -G 1', 'status']) {
		history.add(line);
	}

	expect(createLineHistory(file).load()).toEqual(['release -G 1', 'status']);
	expect(modeOf(file)).toBe('600');
	expect(modeOf(path.dirname(file))).toBe('700');
});

slowTest('the command history of the monitor keeps the newest 500 lines and replaces a file in another format', () => {
	const file = createFile();
	mkdirSync(path.dirname(file));
	writeFileSync(file, 'x'.repeat(1_000_000));
	const history = createLineHistory(file);
	for (let number = 0; number < 600; number++) {
		history.add(`reserve -g ${number}`);
	}

	expect(history.load()).toHaveLength(500);
	expect(history.load().at(-1)).toBe('reserve -g 599');
	expect(statSync(file).size).toBeLessThan(20_000);
});

test('the command history of the monitor stays empty without an error if its file cannot be written', () => {
	const file = createFile();
	mkdirSync(file, {recursive: true});
	for (const place of [file, '/dev/null/history']) {
		const history = createLineHistory(place);
		history.add('status');
		expect(history.load()).toEqual([]);
	}
});

test.runIf(isRoot)("root neither reads nor writes the monitor's command history in the home of another account", () => {
	const file = createFile();
	mkdirSync(path.dirname(file));
	writeFileSync(file, 'release\n');
	chownSync(file, alice.uid, alice.gid);
	chownSync(path.dirname(file), alice.uid, alice.gid);
	const history = createLineHistory(file);
	expect(history.load()).toEqual([]);
	history.add('status');
	expect(readdirSync(path.dirname(file))).toEqual(['history']);
	expect(statSync(file)).toMatchObject({uid: alice.uid, size: 'release\n'.length});
});
