/**
An embedded pool that is damaged or of a later version: every command reports it with exit code 4, and nothing is lost.
*/
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {DatabaseSync} from 'node:sqlite';
import {expect, onTestFinished, test} from 'vitest';
import type {Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {freshEmbeddedBox, peek, startAsJob} from '../../_helpers/program/processes.js';
import {slowTest} from '../../_helpers/slow.js';

const kindsIn = async (box: Box) => (await peek(box)).gpus.map(({kind}) => kind);

const database = (box: Box): string => path.join(box.poolDirectory, 'pool.sqlite');

slowTest('a database of a later version is refused by every command and left unchanged', async () => {
	const box = await freshEmbeddedBox(2);
	await box.run('reserve');
	const file = new DatabaseSync(database(box));
	file.exec('PRAGMA user_version = 9');
	file.close();
	for (const command of ['status', 'reserve', 'release', 'run -- true', 'admin --gpus 2 --provider fake --force']) {
		expect(await box.run(command), command).toEqual({
			exitCode: 4,
			stdout: '',
			stderr: `Error: The GPU pool ${database(box)} was made by a later version of canhazgpu (its format is 9, but this version knows only 2)\nUse that later version.\n`,
		});
	}

	const again = new DatabaseSync(database(box));
	again.exec('PRAGMA user_version = 2');
	again.close();
	expect(await kindsIn(box)).toEqual(['leased', 'free']);
});

slowTest('a damaged database is reported by every command and never overwritten', async () => {
	const box = await freshEmbeddedBox(2);
	await box.run('reserve');
	const whole = readFileSync(database(box));
	writeFileSync(
		database(box),
		Uint8Array.from(whole, (byte, index) => (index < 4096 ? byte : 0xaa)),
	);
	const broken = readFileSync(database(box));
	for (const command of ['status', 'reserve', 'release', 'run -- true', 'queue']) {
		const ran = await box.run(command);
		expect(ran, command).toMatchObject({exitCode: 4, stdout: ''});
		expect(ran.stderr, command).toBe(
			`Error: The GPU pool ${database(box)} is damaged\nMove it away, and create a new pool: canhazgpu admin --store embedded\n`,
		);
	}

	expect(readFileSync(database(box)).equals(broken)).toBe(true);
	writeFileSync(database(box), whole);
	expect(await kindsIn(box)).toEqual(['leased', 'free']);
});

test('status names a stopped process that locks the database', async () => {
	const box = await freshEmbeddedBox(1);
	const script = `
		const database = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
		database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
		console.log('held');
		setTimeout(() => undefined, 60_000);
	`;
	const holder = spawn(process.execPath, ['-e', script, database(box)], {stdio: ['ignore', 'pipe', 'ignore']});
	onTestFinished(() => {
		holder.kill('SIGKILL');
	});
	await once(holder.stdout, 'data');
	holder.kill('SIGSTOP');
	expect(await box.run('status')).toEqual({
		exitCode: 4,
		stdout: '',
		stderr: `Error: The GPU pool ${database(box)} is locked by process ${holder.pid!}, which was stopped while it used the pool\nContinue it: kill -CONT ${holder.pid!}\n`,
	});
	holder.kill('SIGCONT');
	holder.kill('SIGTERM');
	expect(await box.run('status')).toMatchObject({exitCode: 0});
});

slowTest('Ctrl-Z never stops a process in the middle of a database access', async () => {
	const box = await freshEmbeddedBox(1);
	const stateOf = (pid: number): string => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ', 2)[1]!.charAt(0);
	await box.run('reserve');
	const waiters = await Promise.all(
		Array.from({length: 3}, async () => startAsJob(box, 'reserve --short --duration 1h')),
	);
	await Promise.all(waiters.map(async (waiter) => waiter.says(/position \d/v)));
	for (let round = 0; round < 20; round++) {
		const waiter = waiters[round % 3]!;
		// Each change wakes all readers.
		await box.run(['admin', round % 2 === 0 ? '--drain' : '--undrain', '0']);
		waiter.kill('SIGTSTP');
		await eventually(() => stateOf(waiter.pid) === 'T');
		expect(await box.run('status'), `round ${round}`).toMatchObject({exitCode: 0});
		waiter.kill('SIGCONT');
	}
});
