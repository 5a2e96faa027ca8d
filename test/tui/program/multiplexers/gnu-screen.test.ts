/** The monitor inside a real GNU screen, whose client runs on its own terminal. */
import {spawnSync} from 'node:child_process';
import {chmodSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {eventually} from '../../../_helpers/eventually.js';
import {createEmbeddedBox, starter, starterText, type Box} from '../../../_helpers/program/cli.js';
import {openTerminal, type Terminal} from '../../../_helpers/machine/terminal.js';
import {ensureMultiplexer} from '../../../_helpers/packages/multiplexers.js';
import {click, mouseReport, placeOf} from '../_mouse.js';
import {keys} from '../_program.js';
import {isLong, slowTest} from '../../../_helpers/slow.js';

let box: Box;

beforeAll(async () => {
	ensureMultiplexer('screen');
	box = await createEmbeddedBox(4);
});

afterAll(() => {
	box.remove();
});

/** Starts a screen session in which the monitor has the given TERM. */
function startInScreen(term: string, more: Readonly<Record<string, string>> = {}): Terminal {
	const folder = mkdtempSync(path.join(tmpdir(), 'canhazgpu-screen-'));
	chmodSync(folder, 0o700);
	const environment = {
		...box.environment,
		TERM: 'xterm-256color',
		// A capability of the outer terminal that screen lacks.
		COLORTERM: 'truecolor',
		LC_ALL: 'C.UTF-8',
		SHELL: '/bin/sh',
		SCREENDIR: folder,
		...more,
	};
	const program = [starter, ...starterText, 'top'];
	const terminal = openTerminal('screen', ['-U', '-c', '/dev/null', '-S', 'monitor', '-T', term, ...program], {
		columns: 120,
		rows: 32,
		cwd: box.home,
		environment,
	});
	onTestFinished(async () => {
		spawnSync('screen', ['-S', 'monitor', '-X', 'quit'], {env: {...process.env, ...environment}});
		await terminal.close();
		rmSync(folder, {recursive: true, force: true});
	});
	return terminal;
}

const mouseMode = (top: Terminal): string => top.emulator.modes.mouseTrackingMode;

/** The colors of the bars and numbers in a row. */
function colorsOf(top: Terminal, row: number): ReadonlySet<number> {
	const line = top.emulator.buffer.active.getLine(top.emulator.buffer.active.baseY + row)!;
	const cells = Array.from({length: 120}, (_, column) => line.getCell(column)!);
	return new Set(cells.filter((cell) => !cell.isFgDefault()).map((cell) => cell.getFgColor()));
}

test.each(isLong ? ['screen', 'screen-256color'] : ['screen-256color'])(
	'top in GNU screen with TERM=%s handles keys, a paste, colors and a resize',
	async (term) => {
		const top = startInScreen(term);
		await top.waitFor(/> 0 +Free/v);
		expect(top.screen().slice(0, 3).join('\n')).toMatch(/╭─ 1:GPUs/v);
		// Screen would hold back Escape until the next key.
		expect(mouseMode(top)).toBe('none');
		top.write('?');
		await top.waitFor('[Keys] Words');
		top.write(keys.escape);
		await top.waitFor((screen) => !screen.includes('[Keys] Words'));
		// Pasted text is not keys: q would quit, and x would ask.
		top.write('\u{1B}[200~qx\u{1B}[201~');
		top.write('r');
		await top.waitFor('Reserve GPUs');
		top.write('1\t\t');
		await top.waitFor(/> Note/v);
		top.write('\u{1B}[200~by a paste\u{1B}[201~');
		await top.waitFor("--note 'by a paste'");
		top.write(keys.enter);
		await top.waitFor(/0 +Mine/v);
		await eventually(() => top.screen().some((line) => /> 0 +Mine.*[━╸]─/v.test(line)));
		// The colors of Mine, the load and the memory, which the outer terminal shows.
		expect(colorsOf(top, placeOf(top, '> 0')[1]).size).toBeGreaterThanOrEqual(3);
		top.write('\u{1B}[B');
		await top.waitFor(/> 1 +Free/v);
		top.resize({columns: 80, rows: 24});
		await top.waitFor((screen) => screen.split('\n').length === 24 && /^ r Reserve.*q Quit$/mv.test(screen));
		top.write('\u{1B}[A');
		await top.waitFor(/> 0 +Mine/v);
		top.write('x');
		await top.waitFor('y/N');
		top.write('y');
		await top.waitFor(/OK released/v);
		top.write('q');
		await top.waitFor('[screen is terminating]');
		expect([top.isAlternate(), top.isCursorShown(), mouseMode(top)]).toEqual([false, true, 'none']);
	},
);

slowTest('the key M and top.mouse enable the mouse in GNU screen', async () => {
	const top = startInScreen('screen');
	await top.waitFor(/> 0 +Free/v);
	top.write('M');
	await top.waitFor('GNU screen delays Escape until the next key');
	await eventually(() => mouseMode(top) === 'vt200');
	click(top, '  2   Free');
	await top.waitFor(/> 2 +Free/v);
	click(top, 'MEM/');
	await top.waitFor('sort MEM');
	top.write(mouseReport(64, placeOf(top, '> 2')));
	await top.waitFor(/> 0 +Free/v);
	top.write('q');
	await top.waitFor('[screen is terminating]');
	expect(mouseMode(top)).toBe('none');

	const wanted = startInScreen('screen', {CANHAZGPU_TOP_MOUSE: 'true'});
	await wanted.waitFor(/> 0 +Free/v);
	await eventually(() => mouseMode(wanted) === 'vt200');
	wanted.write('q');
	await wanted.waitFor('[screen is terminating]');
});
