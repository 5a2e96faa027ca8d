/** Every way to end or suspend the monitor restores the terminal. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {createEmbeddedBox, starter, starterText, type Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {openTerminal, type Terminal} from '../../_helpers/machine/terminal.js';
import {isShown, keys, startTop} from './_program.js';

let box: Box;

beforeAll(async () => {
	box = await createEmbeddedBox(4);
});

afterAll(() => {
	box.remove();
});

/** Prints the exit code and the terminal's settings afterwards. Signals to the group end only the monitor. */
const shell = 'trap : INT TERM HUP; echo before; "$@"; echo "after $?"; stty -a';

function expectSane(top: Terminal, exitCode: number): void {
	expect(top.isAlternate()).toBe(false);
	expect(top.isCursorShown()).toBe(true);
	expect(top.emulator.modes.bracketedPasteMode).toBe(false);
	expect(top.emulator.modes.mouseTrackingMode).toBe('none');
	expect(top.screen().slice(0, 2)).toEqual(['before', `after ${exitCode}`]);
	expect(top.screen().join('\n')).toMatch(/ icanon [\s\S]* echo /v);
}

test.each([
	['SIGTERM', 143],
	['SIGHUP', 129],
	['SIGINT', 130],
] as const)('%s ends top with %i and restores the terminal', async (signal, exitCode) => {
	const top = startTop(box, {shell});
	await top.waitFor(isShown(4));
	process.kill(-top.pid, signal);
	await top.exit;
	expectSane(top, exitCode);
});

test('a signal during the start of top ends top and restores the terminal', async () => {
	const top = startTop(box, {shell});
	await top.waitFor(() => top.isAlternate());
	process.kill(-top.pid, 'SIGTERM');
	await top.exit;
	expectSane(top, 143);
});

test('Ctrl-C quits top in the table and in a dialog', async () => {
	const top = startTop(box, {shell});
	await top.waitFor(isShown(4));
	top.write('r');
	await top.waitFor('Reserve GPUs');
	top.write(keys.controlC);
	await top.exit;
	expectSane(top, 0);
});

test('an uncaught error in top is printed on a restored terminal', async () => {
	const thrower = path.join(box.home, 'thrower.mjs');
	writeFileSync(thrower, "process.on('SIGUSR2', () => { throw new Error('out of the blue'); });");
	const top = startTop(box, {
		shell: `trap : USR2; ${shell}`,
		environment: {NODE_OPTIONS: `--import ${thrower}`, BUN_OPTIONS: `--preload=${thrower}`},
	});
	await top.waitFor(isShown(4));
	process.kill(-top.pid, 'SIGUSR2');
	await top.exit;
	expect(top.isAlternate()).toBe(false);
	expect(top.isCursorShown()).toBe(true);
	expect(top.emulator.modes.bracketedPasteMode).toBe(false);
	expect(top.emulator.modes.mouseTrackingMode).toBe('none');
	const screen = top.screen().join('\n');
	expect(screen).toMatch(/^before\nError: this is a bug in canhazgpu\nError: out of the blue\n/v);
	expect(screen).toMatch(/after 1\n[\s\S]* icanon [\s\S]* echo /v);
});

test('closing the terminal ends top', async () => {
	const top = startTop(box);
	await top.waitFor(isShown(4));
	top.hangUp();
	const {exitCode, signal} = await top.exit;
	expect(signal === undefined ? exitCode : 128 + signal).toBe(129);
	await eventually(() => {
		try {
			process.kill(top.pid, 0);
			return false;
		} catch {
			return true;
		}
	});
});

test('Ctrl-Z returns the terminal to the shell, and fg redraws top at the current size', async (context) => {
	const top = openTerminal('bash', ['--norc', '--noprofile', '-i'], {
		columns: 120,
		rows: 32,
		cwd: box.home,
		environment: {
			...box.environment,
			PS1: 'prompt> ',
			TOP: [starter, ...starterText, 'top'].map((word) => `'${word}'`).join(' '),
		},
	});
	context.onTestFinished(async () => top.close());
	await top.waitFor('prompt>');
	top.write('eval "$TOP"\r');
	await top.waitFor(isShown(4));
	top.write(keys.controlZ);
	await top.waitFor(/Stopped[\s\S]*prompt>\s*$/v);
	expect(top.isAlternate()).toBe(false);
	expect(top.isCursorShown()).toBe(true);
	expect(top.emulator.modes.mouseTrackingMode).toBe('none');
	// The shell has the keyboard.
	top.write('echo $((6 * 7))\r');
	await top.waitFor(/^42$/mv);
	await box.run('reserve --gpus 1');
	top.resize({columns: 90, rows: 24});
	top.write('fg\r');
	const back = await top.waitFor(/^> 0 +Mine /mv);
	expect(top.isAlternate()).toBe(true);
	expect(top.isCursorShown()).toBe(false);
	expect(back).toHaveLength(24);
	expect(back[0]).toMatch(/ rw {2}\S+ {2}[\d:]+$/v);
	expect(back[0]!.length).toBeLessThanOrEqual(90);
	expect(back[23]).toMatch(/ q Quit$/v);
	// The monitor has the mouse again.
	expect(top.emulator.modes.mouseTrackingMode).toBe('vt200');
	top.write('j');
	await top.waitFor(/^> 1 +Free /mv);

	// Suspends and resumes once more.
	top.write(keys.controlZ);
	await top.waitFor(/Stopped[\s\S]*prompt>\s*$/v);
	top.write('fg\r');
	await top.waitFor(/^> 1 +Free /mv);
	top.write('q');
	await top.waitFor(/prompt>\s*$/v);
	expect(top.isAlternate()).toBe(false);
	expect(top.isCursorShown()).toBe(true);
	top.write('echo "code $?"\r');
	await top.waitFor(/^code 0$/mv);
});
