/** The command line of the monitor: typing, Tab, history and output. */
import {afterEach, expect, test, vi} from 'vitest';
import {CanhazgpuError} from '../../../source/errors.js';
import {completed} from '../../../source/tui/state/command-line/reduce.js';
import {commandPrompt} from '../../../source/tui/state/command-line/state.js';
import type {CommandLine, MonitorPorts} from '../../../source/tui/ports.js';
import {fieldOf} from '../../../source/tui/state/text-field.js';
import {endSession, keys, startMonitor, type Session} from '../_harness.js';
import {createBox, lease} from '../_world.js';
import {isLeased} from '../../_helpers/leased.js';

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

const someCandidates: CommandLine['complete'] = async (line) => ({
	start: line.lastIndexOf(' ') + 1,
	candidates: ['reserve', 'release'],
});

async function open(run: CommandLine['run'], lines: string[] = [], complete = someCandidates): Promise<Session> {
	const ports: MonitorPorts = {
		commandLine: {
			run,
			inShell: (line) => `canhazgpu ${line}`,
			complete,
		},
		lineHistory: {
			load: () => lines,
			add(line) {
				lines.push(line);
			},
		},
	};
	session = startMonitor(await createBox(2), {ports});
	await session.shows(/> 0 +Free/v);
	return session;
}

test('the command line of top keeps a wrong line for correction, and adds it to the history', async () => {
	const ran: string[] = [];
	const lines = ['status'];
	const {press, shows, store} = await open(async (line) => {
		ran.push(line);
		if (line.includes('--gpu ')) {
			throw new CanhazgpuError('usage', 'reserve has no flag --gpu', {hint: 'Did you mean --gpus?'});
		}

		return ['Reserved 2 GPU(s): [0 1] for 8h 0m 0s'];
	}, lines);
	await press(':', 'reserve --gpu 2');
	await shows(' :reserve --gpu 2');
	await press(keys.enter);
	await shows('ERR reserve has no flag --gpu  Did you mean --gpus?');
	await press(keys.left, keys.left, 's');
	expect(store.getState().dialog).toMatchObject({field: {value: 'reserve --gpus 2'}, complaint: undefined});
	await press(keys.enter);
	await shows('OK Reserved 2 GPU(s): [0 1] for 8h 0m 0s');
	expect(store.getState().dialog).toBeUndefined();
	expect(ran).toEqual(['reserve --gpu 2', 'reserve --gpus 2']);
	expect(lines).toEqual(['status', ...ran]);
});

test('after a wrong line and Esc, the key v shows its error in full', async () => {
	const {press, shows} = await open(async () => {
		throw new CanhazgpuError('usage', 'events --follow cannot be used inside the monitor', {
			hint: 'The monitor already shows events: press 5 to see them all.',
		});
	});
	await press(':', 'events --follow', keys.enter);
	await shows('ERR events --follow cannot be used');
	await press(keys.escape, 'v');
	await shows('events --follow cannot be used inside the monitor. The monitor already');
	await shows('press 5 to see them all.');
});

test('Up and Down on the command line go through the history and back to the current input', async () => {
	const {press, store} = await open(async () => [], ['status', 'queue']);
	const typed = (): unknown => {
		const {dialog} = store.getState();
		return dialog?.kind === 'command' && dialog.field.value;
	};

	await press(':', 'rel', keys.up);
	expect(typed()).toBe('queue');
	await press(keys.up, keys.up);
	expect(typed()).toBe('status');
	await press(keys.down, keys.down);
	expect(typed()).toBe('rel');
	await press(keys.down, keys.escape);
	expect(store.getState().dialog).toBeUndefined();
});

test('the command line handles control keys that arrive together with typed text', async () => {
	const ran: string[] = [];
	const {press} = await open(async (line) => {
		ran.push(line);
		return [];
	});
	await press(':', 'reserve -g 2\u{15}quee\u{7F}ue\r');
	expect(ran).toEqual(['queue']);
});

test('Tab on the command line completes the common start of the candidates and lists them', async () => {
	const {press, shows, store} = await open(async () => []);
	await press(':', 'r', keys.tab);
	await shows(' reserve  release');
	expect(store.getState().dialog).toMatchObject({field: {value: 're', caret: 2}});
});

test('if the candidates of Tab cannot be determined, the prompt shows why and stays open', async () => {
	const {press, shows} = await open(
		async () => [],
		[],
		async () => {
			throw new CanhazgpuError('failed', 'The program was replaced', {hint: 'Start it again.'});
		},
	);
	await press(':', 'r', keys.tab);
	await shows('The program was replaced');
	await press('eport');
	await shows(':report');
});

test('Escape and Ctrl-C do not wait for the candidates of Tab', async () => {
	const {press, shows, hides, quits} = await open(
		async () => [],
		[],
		async () => Promise.withResolvers<never>().promise,
	);
	await press(':', 'r', keys.tab, 'x', keys.escape);
	await hides(':r');
	await press('?');
	await shows('Keys');
	await press(keys.escape, ':', 'r', keys.tab, 'x', '\u{3}');
	await vi.waitFor(() => {
		expect(quits()).toBe(1);
	});
});

test('Tab on the command line inserts a single candidate in full, before the following text', () => {
	const prompt = {...commandPrompt([]), field: {...fieldOf('rel -G 1'), caret: 3}};
	expect(completed(prompt, {start: 0, candidates: ['release']}).field).toMatchObject({
		value: 'release  -G 1',
		caret: 8,
	});
	expect(completed(prompt, {start: 0, candidates: []}).field).toBe(prompt.field);
	// Characters of two code units match or differ as a whole.
	expect(completed(prompt, {start: 0, candidates: ['🚀a', '🚀b']}).field.value).toBe('🚀 -G 1');
	expect(completed(prompt, {start: 0, candidates: ['🚀', '🚁']}).field.value).toBe(' -G 1');
});

test('a command whose output has several lines opens a panel that scrolls', async () => {
	const {press, shows, screen, store} = await open(async () =>
		Array.from({length: 60}, (_, number) => `line ${number} ${'-'.repeat(90)} end`),
	);
	await press(':', 'report', keys.enter);
	await shows('$ canhazgpu report');
	await shows('1-20 of 60');
	expect(screen()).toContain('line 19 ');
	await press(keys.pageDown, keys.down);
	await shows('22-41 of 60');
	await press(keys.end, keys.right, keys.right);
	await shows('- end');
	expect(screen()).toContain('41-60 of 60');
	await press(keys.home);
	await shows('1-20 of 60');
	await press('q');
	expect(store.getState().dialog).toBeUndefined();
});

test('a waiting command returns the keyboard to top and reports its result later', async () => {
	const {promise, resolve} = Promise.withResolvers<readonly string[]>();
	const {press, shows, store} = await open(async (_, {onWaiting}) => {
		onWaiting('Waiting for 2 GPUs: position 1 of 1, got 0/2');
		return promise;
	});
	await press(':', 'reserve -g 2', keys.enter);
	await shows('WAIT Waiting for 2 GPUs: position 1 of 1');
	await press('?');
	await shows('[Keys] Words');
	resolve(['Reserved 2 GPU(s): [0 1] for 8h 0m 0s', '', 'To use them here:']);
	await shows('OK Reserved 2 GPU(s): [0 1] for 8h 0m 0s');
	// The open dialog stays.
	expect(store.getState()).toMatchObject({dialog: {kind: 'help'}, waits: []});
});

test('the key z undoes a release that was typed on the command line', async () => {
	const box = await createBox(2, {leases: {1: lease('alice', {note: 'eval'})}});
	const run: CommandLine['run'] = async (_, {onReleased}) => {
		const {gpus} = await box.store.read();
		onReleased?.(gpus.filter(isLeased));
		await box.write({kind: 'free', index: 1, lastReleased: undefined});
		return ['Released 1 GPU(s): [1]'];
	};

	session = startMonitor(box, {
		ports: {
			commandLine: {run, inShell: (line) => line, complete: async () => ({start: 0, candidates: []})},
		},
	});
	await session.shows(/ 1 +Mine/v);
	await session.press(':', 'release', keys.enter);
	await session.shows(/OK Released 1 GPU\(s\): \[1\] .*z Undo release \((?:9|10)s\)/v);
	await session.press('z');
	await session.shows('OK reserved GPU 1 again, until the same time as before');
	expect((await box.store.read()).gpus[1]).toMatchObject({lease: {note: 'eval'}});
});

test('the command line inserts pasted text and runs nothing', async () => {
	const ran: string[] = [];
	const {press, paste, shows} = await open(async (line) => {
		ran.push(line);
		return [];
	});
	await press(':');
	await paste('release\nreserve -g 8\r');
	await shows(' :release reserve -g 8');
	expect(ran).toEqual([]);
});
