/** The monitor inside a real tmux, whose client runs on its own terminal. The mouse, pastes and keys pass through both. */
import {spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {createEmbeddedBox, starter, starterText, type Box} from '../../../_helpers/program/cli.js';
import {openTerminal, type Terminal} from '../../../_helpers/machine/terminal.js';
import {ensureMultiplexer} from '../../../_helpers/packages/multiplexers.js';
import {firstCase} from '../../../_helpers/slow.js';
import {click, mouseReport, placeOf} from '../_mouse.js';
import {keys, startTop} from '../_program.js';

let box: Box;

beforeAll(async () => {
	ensureMultiplexer('tmux');
	box = await createEmbeddedBox(4);
});

afterAll(() => {
	box.remove();
});

const size = {columns: 120, rows: 32};

/** Starts a tmux in which the monitor has the given TERM, with a client. */
function startInTmux(term: string): Terminal {
	const folder = mkdtempSync(path.join(tmpdir(), 'canhazgpu-tmux-'));
	const socket = path.join(folder, 'socket');
	const environment = {...box.environment, TERM: 'xterm-256color', LC_ALL: 'C.UTF-8', SHELL: '/bin/sh'};
	const settings = [
		['set', '-g', 'mouse', 'on'],
		['set', '-g', 'default-terminal', term],
		['set', '-g', 'status', 'off'],
		['set', '-g', 'escape-time', '10'],
	];
	const program = [starter, ...starterText, 'top'];
	const terminal = openTerminal(
		'tmux',
		['-u', '-S', socket, '-f', '/dev/null', ...settings.flatMap((words) => [...words, ';']), 'new', ...program],
		{...size, cwd: box.home, environment},
	);
	onTestFinished(async () => {
		spawnSync('tmux', ['-S', socket, 'kill-server'], {env: {...process.env, ...environment}});
		await terminal.close();
		rmSync(folder, {recursive: true, force: true});
	});
	return terminal;
}

test.each(firstCase(['tmux-256color', 'screen', 'xterm-256color']))(
	'top in tmux with TERM=%s receives clicks, the wheel, a paste and keys',
	async (term) => {
		const top = startInTmux(term);
		await top.waitFor(/> 0 +Free/v);
		expect(top.screen().slice(0, 3).join('\n')).toMatch(/╭─ 1:GPUs/v);
		// Tmux enables the mouse of its own terminal because the monitor does.
		expect(top.emulator.modes.mouseTrackingMode).not.toBe('none');
		click(top, '  2   Free');
		await top.waitFor(/> 2 +Free/v);
		click(top, 'MEM/');
		await top.waitFor('sort MEM');
		click(top, 'GPU STATE');
		await top.waitFor('sort GPU^');
		top.write(mouseReport(64, placeOf(top, '> 2')));
		await top.waitFor(/> 0 +Free/v);
		click(top, '3:Queue');
		await top.waitFor(/Esc Back/v);
		top.write(keys.escape);
		await top.waitFor((screen) => !screen.includes('Esc Back') && screen.includes('r Reserve'));
		// Pasted text is not keys: q would quit, and x would ask.
		top.write('\u{1B}[200~qx\u{1B}[201~');
		top.write('r');
		await top.waitFor('Reserve GPUs');
		click(top, 'Note');
		await top.waitFor(/> Note/v);
		top.write('\u{1B}[200~by a paste\u{1B}[201~');
		await top.waitFor("--note 'by a paste'");
		click(top, 'Enter Reserve');
		await top.waitFor((screen) => /0 +Mine/v.test(screen) && screen.includes('x Release'));
		click(top, 'x Release');
		await top.waitFor('y/N');
		click(top, 'y/N');
		await top.waitFor(/OK released/v);
		// The window is resized while a dialog is open.
		top.write('?');
		await top.waitFor('[Keys] Words');
		top.resize({columns: 80, rows: 24});
		await top.waitFor((screen) => screen.split('\n').length === 24 && screen.includes('Esc Close'));
		top.write(keys.escape);
		// Escape followed at once by a letter would be Alt with that letter.
		await top.waitFor((screen) => !screen.includes('[Keys] Words') && screen.includes(' r Reserve'));
		top.write('q');
		await top.waitFor('[exited]');
	},
);

test.each(['linux', 'dumb', 'vt100'])('top with TERM=%s draws plain ASCII characters', async (term) => {
	const top = startTop(box, {shell: `TERM=${term} exec "$@"`});
	const screen = await top.waitFor(/> 0 +Free/v);
	expect(screen.join('\n')).toMatch(/^[\n\u{20}-\u{7E}]*$/v);
	top.write('r');
	const dialog = await top.waitFor('Reserve GPUs');
	expect(dialog.join('\n')).toMatch(/^[\n\u{20}-\u{7E}]*$/v);
	expect(dialog.join('\n')).toMatch(/\+- Reserve GPUs -+\+/v);
	top.write(keys.escape);
	await top.waitFor((text) => !text.includes('Reserve GPUs'));
	top.write('q');
	await top.exit;
});
