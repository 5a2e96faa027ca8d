import {type EventEmitter} from 'node:events';
import process from 'node:process';
import {expect, test} from 'vitest';
import {prepareMonitor} from '../../source/tui/index.js';
import type {MonitorOptions} from '../../source/tui/ports.js';
import {FakeStdin, FakeStdout} from './_harness.js';
import {alice, createScene, utcTime} from './_world.js';

/** Starts the monitor as the command does, and waits for its first whole frame. */
async function start(more: Partial<MonitorOptions> = {}) {
	const box = await createScene();
	const stdout = new FakeStdout({columns: 80, rows: 24});
	const stdin = new FakeStdin();
	const runMonitor = await prepareMonitor();
	const ended = runMonitor({
		world: box.world,
		requester: alice,
		hostname: 'gpu-box-3',
		isReadonly: false,
		isAscii: false,
		formatTime: utcTime,
		stdout: stdout as unknown as NodeJS.WriteStream,
		stdin: stdin as unknown as NodeJS.ReadStream,
		...more,
	});
	// Prevents an unhandled rejection. The test awaits `ended` itself.
	ended.catch(() => undefined);
	await expect.poll(() => stdout.screen().join('\n')).toMatch(/> 0 +Mine/v);
	return {stdout, stdin, ended};
}

const enters = '\u{1B}[?1049h';
const leaves = '\u{1B}[?1049l';
const showsCursor = '\u{1B}[?25h';

function expectRestored(stdout: FakeStdout): void {
	expect(stdout.written.indexOf(enters)).toBeGreaterThanOrEqual(0);
	expect(stdout.written.lastIndexOf(leaves)).toBeGreaterThan(stdout.written.lastIndexOf(enters));
	expect(stdout.written.lastIndexOf(showsCursor)).toBeGreaterThan(stdout.written.lastIndexOf(enters));
}

test('the key q ends top with 0 and restores the terminal', async () => {
	const {stdout, stdin, ended} = await start({notice: 'No pool was found: made a private one'});
	expect(stdout.screen().join('\n')).toContain('WARN No pool was found: made a private one');
	stdin.type('q');
	expect(await ended).toBe(0);
	expectRestored(stdout);
});

test.each(['stdin', 'stdout', 'stderr'] as const)(
	'an error on %s after the terminal was closed ends top like a hang-up',
	async (name) => {
		const stderr = new FakeStdout({columns: 80, rows: 24});
		const {stdin, stdout, ended} = await start({stderr: stderr as unknown as NodeJS.WriteStream});
		const stream = {stdin, stdout, stderr}[name];
		const lost = Object.assign(new Error('read EIO'), {code: 'EIO'});
		stream.emit('error', lost);
		expect(await ended).toBe(129);
		// The mode and size of a closed terminal cannot be read, and that error comes later.
		stream.emit('error', lost);
	},
);

test.each([
	['SIGTERM', 143],
	['SIGHUP', 129],
	['SIGINT', 130],
] as const)('%s ends top with %i and restores the terminal', async (signal, code) => {
	const {stdout, ended} = await start();
	const listeners = process.listenerCount(signal);
	process.emit(signal, signal);
	expect(await ended).toBe(code);
	expectRestored(stdout);
	expect(process.listenerCount(signal)).toBeLessThan(listeners);
});

test('top restores the terminal before it reports a bug', async () => {
	const {stdout, ended} = await start();
	const broken = new Error('a bug');
	(process as EventEmitter).emit('unhandledRejection', broken);
	await expect(ended).rejects.toBe(broken);
	expectRestored(stdout);
});

test('top restores the terminal if drawing fails', async () => {
	let isBroken = false;
	const {stdout, stdin, ended} = await start({
		formatTime(seconds) {
			if (isBroken) {
				throw new Error('cannot draw');
			}

			return utcTime(seconds);
		},
	});
	isBroken = true;
	stdin.type('j');
	await expect(ended).rejects.toThrow('cannot draw');
	expectRestored(stdout);
});
