import process from 'node:process';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {createEmbeddedBox, type Box} from '../../_helpers/program/cli.js';
import type {Terminal} from '../../_helpers/machine/terminal.js';
import {click, mouseReport, placeOf} from './_mouse.js';
import {isShown, startTop} from './_program.js';

let box: Box;

beforeAll(async () => {
	box = await createEmbeddedBox(4);
});

afterAll(() => {
	box.remove();
});

const mouseMode = (top: Terminal): string => top.emulator.modes.mouseTrackingMode;

test('clicks and the wheel act like keys in top until the key M turns the mouse off', async () => {
	const top = startTop(box);
	await top.waitFor(isShown(4));
	expect(mouseMode(top)).toBe('vt200');
	click(top, '  2   Free');
	await top.waitFor(/> 2 +Free/v);
	// A title sorts, and a second click reverses the order.
	click(top, 'MEM/');
	await top.waitFor('sort MEM');
	click(top, 'GPU STATE');
	await top.waitFor('sort GPU^');
	click(top, 'GPU STATE');
	await top.waitFor('sort GPUv');
	click(top, 'GPU STATE');
	await top.waitFor('sort GPU^');
	// The wheel scrolls the panel under the pointer, and keys still go to the focused panel.
	top.write(mouseReport(64, placeOf(top, '> 2')));
	await top.waitFor(/> 0 +Free/v);
	// Opens a panel by its title, and returns by the footer.
	click(top, '3:Queue');
	await top.waitFor(/Esc Back/v);
	click(top, 'Esc Back');
	await top.waitFor('r Reserve');

	// Opens a form by the footer, selects a field, and submits by the footer.
	click(top, 'r Reserve');
	await top.waitFor('Reserve GPUs');
	click(top, 'Note');
	await top.waitFor(/> Note/v);
	top.write('by mouse');
	await top.waitFor('by mouse');
	click(top, 'Enter ');
	await top.waitFor(/ok reserved/iv);
	await top.waitFor(/0 +Mine/v);
	// Answers a question by clicking its letters.
	click(top, '> 0');
	click(top, 'x Release');
	const asked = await top.waitFor('y/N');
	const [start, line] = placeOf(top, 'y/N');
	click(top, [start + 2, line]);
	await top.waitFor((screen) => !screen.includes('y/N'));
	expect(asked.join('\n')).toContain('Mine');
	click(top, 'x Release');
	await top.waitFor('y/N');
	click(top, 'y/N');
	await top.waitFor(/OK released/v);

	// An invalid report is no key, whole or in parts. A `q` would quit.
	top.write('\u{1B}[<0;q\u{1B}[Mqqq\u{1B}[<0;1;1;1Mj');
	await top.waitFor(/> 1 +Free/v);
	top.write('M');
	await top.waitFor('The mouse is left to the terminal');
	await eventually(() => mouseMode(top) === 'none');
	top.write('M');
	await top.waitFor('The mouse clicks and scrolls here');
	await eventually(() => mouseMode(top) === 'vt200');
	top.write('q');
	expect(await top.exit).toMatchObject({exitCode: 0});
	expect(mouseMode(top)).toBe('none');
});

test('top does not use the mouse with top.mouse off or on a dumb terminal', async () => {
	const quiet = startTop(box, {environment: {CANHAZGPU_TOP_MOUSE: 'false'}});
	const terms = ['screen', 'linux', 'dumb'].map((term) => startTop(box, {shell: `TERM=${term} exec "$@"`}));
	const modes = await Promise.all(
		[quiet, ...terms].map(async (top) => {
			await top.waitFor(isShown(4));
			return mouseMode(top);
		}),
	);
	expect(modes).toEqual(['none', 'vt200', 'none', 'none']);
	process.kill(terms[0]!.pid, 'SIGTERM');
	await terms[0]!.exit;
	expect(mouseMode(terms[0]!)).toBe('none');
	for (const top of [quiet, ...terms.slice(1)]) {
		top.write('q');
	}

	await Promise.all([quiet, ...terms.slice(1)].map(async (top) => top.exit));
});
