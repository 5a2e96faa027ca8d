/** The output to the terminal, byte by byte: frames that fit without flicker, in the requested characters and colors. */
import process from 'node:process';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {createEmbeddedBox, type Box} from '../../_helpers/program/cli.js';
import {openTerminal} from '../../_helpers/machine/terminal.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';
import {clears, isShown, keys, spelled, startTop, watchFrames} from './_program.js';

let box: Box;

beforeAll(async () => {
	box = await createEmbeddedBox();
});

afterAll(() => {
	box.remove();
});

test('watchFrames detects frames that are too wide or too tall', async (context) => {
	const terminal = openTerminal(
		process.execPath,
		[
			'-e',
			String.raw`process.stdout.write('\u{1B}[?1049h' + 'x'.repeat(30) + '\n'.repeat(9)); setInterval(() => {}, 1000)`,
		],
		{columns: 20, rows: 5, cwd: box.home, environment: {...box.environment}},
	);
	context.onTestFinished(async () => terminal.close());
	const faults = watchFrames(terminal);
	await terminal.waitFor(() => faults.overflows().length > 4);
	expect(faults.overflows()).toEqual(expect.arrayContaining(['scrolled']));
});

test.each(
	firstCase([
		{columns: 200, rows: 60},
		{columns: 120, rows: 32},
		{columns: 80, rows: 24},
		{columns: 60, rows: 15},
	]),
)('top draws frames that fit $columns x $rows, and never clears the screen to redraw', async (size) => {
	const top = startTop(box, {size});
	const faults = watchFrames(top);
	await top.waitFor(isShown(8));
	const firstFrame = top.mark();
	for (const [typed, shown] of [
		['jjj', /> 3 /v],
		['?', /reserve GPUs for a time/v],
		[keys.escape, /q Quit$/v],
		['r', /Reserve GPUs/v],
		['9'.repeat(70), /Enter Reserve/v],
		[keys.enter, /99999/v],
		[keys.escape, /q Quit$/v],
		['r2\r', / OK reserved GPUs /v],
		['x', /There is nothing to release|not reserved|Release GPU/v],
		[keys.escape, /q Quit$/v],
	] as const) {
		top.write(typed);
		const frame = await top.waitFor(shown);
		expect(frame).toHaveLength(size.rows);
	}

	expect(await box.run('release')).toMatchObject({exitCode: 0});
	await top.waitFor('Mine 0');
	// The rest of the last frame may still be on its way.
	await top.waitFor(() => spelled(top.rawSince(firstFrame)).endsWith('␛[?2026l'));
	const drawn = spelled(top.rawSince(firstFrame));
	expect(drawn).not.toMatch(clears);
	expect(faults.overflows()).toEqual([]);
	// Each frame is marked as a whole, so that a terminal can show it at once.
	const outside = drawn.replaceAll(/␛\[\?2026h[\s\S]*?␛\[\?2026l/gv, '');
	expect(outside).toBe('');
	top.write('q');
	expect(await top.exit).toMatchObject({exitCode: 0});
	// The terminal's history is never cleared.
	expect(spelled(top.rawSince(0))).not.toMatch(/␛\[[23]J|␛c/v);
});

slowTest('top fills a window of any size exactly, and shows the required size if the window is too small', async () => {
	const top = startTop(box);
	await top.waitFor(isShown(8));
	for (const size of [
		{columns: 80, rows: 24},
		{columns: 160, rows: 50},
		{columns: 50, rows: 10},
		{columns: 20, rows: 2},
		{columns: 100, rows: 20},
		{columns: 60, rows: 15},
		{columns: 61, rows: 40},
	]) {
		top.resize(size);
		const isLarge = size.columns >= 60 && size.rows >= 15;
		const isFilled = (screen: string): boolean => {
			const lines = screen.split('\n');
			return isLarge
				? isShown(8)(screen) && lines.at(-1)!.endsWith(' q Quit') && / rw\b/v.test(lines[0]!)
				: screen.includes(`have ${size.columns}x${size.rows}`) || screen.includes('need 60x15');
		};

		const lines = await top.waitFor(isFilled);
		expect(lines).toHaveLength(size.rows);
		// The screen stays filled from here on.
		const faults = watchFrames(top);
		top.write('j');
		await top.waitFor(isFilled);
		expect(faults.overflows()).toEqual([]);
	}

	top.write('q');
	expect(await top.exit).toMatchObject({exitCode: 0});
});

test.each(
	firstCase<{readonly environment: Readonly<Record<string, string>>; readonly isAscii: boolean}>([
		{environment: {LC_ALL: 'C', LANG: 'C.UTF-8'}, isAscii: true},
		{environment: {LC_ALL: '', LC_CTYPE: 'en_US', LANG: 'C.UTF-8'}, isAscii: true},
		{environment: {LC_CTYPE: 'en_US.utf8', LANG: 'C'}, isAscii: false},
	]),
)('top draws only ASCII if the locale requires it: $environment', async ({environment, isAscii}) => {
	const frame = await startTop(box, {environment}).waitFor(isShown(8));
	expect(/^\p{ASCII}*$/v.test(frame.join(''))).toBe(isAscii);
});

slowTest('top draws no colors with NO_COLOR and only ASCII characters with --ascii', async () => {
	const colourful = startTop(box);
	await colourful.waitFor(isShown(8));
	// Colors, not only bold, dim and inverse.
	const colour = /␛\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m/v;
	expect(spelled(colourful.rawSince(0))).toMatch(colour);
	expect(colourful.rawSince(0)).toMatch(/\P{ASCII}/v);

	const plain = startTop(box, {environment: {NO_COLOR: '1'}, flags: ['--ascii']});
	await plain.waitFor(isShown(8));
	plain.write('r');
	await plain.waitFor('Reserve GPUs');
	plain.write(`${keys.tab}${keys.tab}note`);
	await plain.waitFor('--note note');
	plain.write(keys.escape);
	await plain.waitFor(/q Quit$/v);
	plain.write('?');
	await plain.waitFor('reserve GPUs for a time');
	expect(spelled(plain.rawSince(0))).not.toMatch(colour);
	expect(plain.rawSince(0)).not.toMatch(/\P{ASCII}/v);
	// The selection is still visible.
	expect(plain.rawSince(0)).toContain('\u{1B}[7m');
});

test('without a terminal or with --once, top prints the status and exits', async () => {
	const status = await box.run('status');
	// A column may be wider a second later.
	const still = (text: string): string => text.replaceAll(/\b\d+h \d+m \d+s/gv, 'TIME').replaceAll(/ +|─+/gv, ' ');
	for (const words of ['top', 'top --once', 'top --readonly']) {
		const ran = await box.run(words);
		expect({...ran, stdout: still(ran.stdout)}).toEqual({...status, stdout: still(status.stdout)});
	}

	const once = startTop(box, {flags: ['--once']});
	expect(await once.exit).toEqual({exitCode: 0, signal: undefined});
	expect(once.rawSince(0)).not.toContain('\u{1B}[?1049h');
	expect(once.screen().join('\n')).toContain('SIMULATED GPUs');
});

test('the first line is whole if the cursor was not at the left edge and keys were typed during the start', async (context) => {
	const top = startTop(box, {shell: 'printf "starting... "; "$@"'});
	const typing = setInterval(() => {
		top.write('j');
	}, 5);
	context.onTestFinished(() => {
		clearInterval(typing);
	});
	const firstLine = /^ canhazgpu top {2}\S+ {2}8x\S*H100\S* {2}\[LIVE\] {2}SIMULATED {2}scan /v;
	const opened = await top.waitFor(isShown(8));
	clearInterval(typing);
	expect(opened[0]).toMatch(firstLine);
	const mark = top.mark();
	top.write(keys.controlR);
	await eventually(() => /␛\[\?1049h[\s\S]*LIVE/v.test(spelled(top.rawSince(mark))));
	expect((await top.waitFor(isShown(8)))[0]).toMatch(firstLine);
});
