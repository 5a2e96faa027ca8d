/** `:theme` and `:interval`, the scan interval of a running monitor, and saved options. */
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterEach, expect, onTestFinished, test} from 'vitest';
import {optionsSaver} from '../../../source/commands/top/saving.js';
import type {GpuProvider} from '../../../source/core/model/ports.js';
import {CanhazgpuError} from '../../../source/errors.js';
import type {MonitorPorts, SaveOptions} from '../../../source/tui/ports.js';
import {presentOptions} from '../../../source/tui/state/view/options.js';
import {endSession, keys, startMonitor, type Session} from '../_harness.js';
import {createScene, type Box} from '../_world.js';

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

const commandLine: MonitorPorts['commandLine'] = {
	run: async (line) => [`ran ${line}`],
	inShell: (line) => `canhazgpu ${line}`,
	complete: async () => ({start: 0, candidates: []}),
};

async function start(
	ports: MonitorPorts = {},
	{box, ...more}: {box?: Box} & Parameters<typeof startMonitor>[1] = {},
): Promise<Session> {
	session = startMonitor(box ?? (await createScene()), {
		size: {columns: 120, rows: 32},
		hasColor: true,
		...more,
		ports: {commandLine, ...ports},
	});
	await session.shows(/> 0 +Mine/v);
	return session;
}

const themes = 'auto dark light high-contrast color-blind terminal high-contrast-light color-blind-light';

test.each([
	['theme nosuch', `Unknown theme "nosuch"  ${themes}`],
	['theme Light', `Unknown theme "Light"  ${themes}`],
	['theme light dark', 'theme takes one value  Type theme alone to see its values.'],
	['interval 0', 'interval must be 0.5s or more  Write 0.5s to 1h, such as 5s.'],
	['interval 0s', 'interval must be 0.5s or more  Write 0.5s to 1h, such as 5s.'],
	['interval 0.1s', 'interval must be 0.5s or more  Write 0.5s to 1h, such as 5s.'],
	['interval 2d', 'interval must be 1h or less  Write 0.5s to 1h, such as 5s.'],
	['interval 5', 'interval: "5" has no unit  Did you mean 5s?'],
	['interval -1s', 'interval: "-1s" is not a duration  Write a number and a unit: '],
	['interval soon', 'interval: "soon" is not a duration  Write a number and a unit: '],
])('the command :%s is rejected with an error and changes nothing', async (line, message) => {
	const {press, shows, store} = await start();
	const before = presentOptions(store.getState());
	await press(':', line, keys.enter);
	await shows(`ERR ${message}`);
	expect(presentOptions(store.getState())).toEqual(before);
	// The line stays for correction.
	expect(store.getState().dialog).toMatchObject({kind: 'command', field: {value: line}});
});

test('the error for an unknown theme lists all themes at 80 columns', async () => {
	const {press, shows} = await start({}, {size: {columns: 80, rows: 24}});
	await press(':', 'theme nosuch', keys.enter);
	await shows('Unknown theme "nosuch"  auto dark light high-contrast color-blind terminal');
});

test('the commands :theme and :interval set an option, or open the options dialog without a value', async () => {
	const {press, shows, store} = await start();
	await press(':', 'theme  color-blind', keys.enter);
	await shows('OK Until this monitor ends: theme color-blind');
	expect(store.getState().settings).toMatchObject({theme: 'color-blind', scheme: 'color-blind'});
	await press(':', 'theme color-blind', keys.enter);
	await shows('OK theme is already color-blind');
	await press(':', 'interval 1m30s', keys.enter);
	await shows('OK Until this monitor ends: interval 1m30s');
	await press(':', 'interval', keys.enter);
	await shows(/> Interval +< 1m30s >/v);
	await press(keys.escape, ':', 'theme', keys.enter);
	await shows(/> Theme +< color-blind >/v);
	await press(keys.escape, ':', 'themes', keys.enter);
	await shows('OK ran themes');
});

test('the command :interval fails if there is no pool', async () => {
	session = startMonitor(await createScene(), {hasNoPool: true, ports: {commandLine}});
	await session.shows('r Reserve');
	await session.press(':', 'interval 5s', keys.enter);
	await session.shows('ERR interval has no effect: this monitor scans no GPUs');
});

/** Counts the scans with a provider, and the times that it is closed. */
function counting(gpus: GpuProvider) {
	const counts = {scans: 0, closes: 0};
	const provider: GpuProvider = {
		...gpus,
		async observe() {
			counts.scans++;
			return gpus.observe();
		},
		async close() {
			counts.closes++;
		},
	};
	return {counts, provider};
}

test('a new scan interval is used by a new GPU provider, and the old provider is closed', async () => {
	const box = await createScene();
	const [first, second, third] = [counting(box.world.gpus), counting(box.world.gpus), counting(box.world.gpus)];
	const asked: number[] = [];
	const {press, shows, store} = await start(
		{
			async watchGpus(intervalMs) {
				asked.push(intervalMs);
				return asked.length === 1 ? second.provider : third.provider;
			},
		},
		{box, watched: first.provider, scanIntervalMs: 60_000},
	);
	await press('O', keys.down, keys.left, keys.left);
	await shows(/> Interval +< 0\.5s > +now 2s/v);
	expect(asked).toEqual([]);
	await press(keys.enter);
	await shows('OK Until this monitor ends: interval 0.5s');
	await expect.poll(() => second.counts.scans).toBeGreaterThan(2);
	expect(first.counts.closes).toBe(1);
	const before = first.counts.scans;
	await press(':', 'interval 30s', keys.enter);
	await expect.poll(() => third.counts.scans).toBeGreaterThan(0);
	expect([asked, first.counts, second.counts.closes, third.counts.closes]).toEqual([
		[500, 30_000],
		{scans: before, closes: 1},
		1,
		0,
	]);
	expect(store.getState().history.coverMs).toBe(75_000);
	expect(store.getState().scanFailure).toBeUndefined();
});

test('a change of the scan interval does not close a GPU provider that is still in use', async () => {
	const box = await createScene();
	const own = counting(box.world.gpus);
	Object.defineProperty(box.world, 'gpus', {value: own.provider});
	const other = counting(own.provider);
	const {press, shows} = await start(
		{watchGpus: async (intervalMs) => (intervalMs === 1000 ? own.provider : other.provider)},
		{box, watched: own.provider, scanIntervalMs: 60_000},
	);
	await press(':', 'interval 1s', keys.enter);
	await shows('interval 1s');
	await expect.poll(() => own.counts.scans).toBeGreaterThan(3);
	await press(':', 'interval 5s', keys.enter);
	await expect.poll(() => other.counts.scans).toBeGreaterThan(0);
	expect([own.counts.closes, other.counts.closes]).toEqual([0, 0]);
});

test('two simultaneous changes of the scan interval apply the last one and close all other providers', async () => {
	const box = await createScene();
	const all = new Map([500, 1000, 60_000].map((intervalMs) => [intervalMs, counting(box.world.gpus)]));
	const answers: Array<() => void> = [];
	const {store, press, shows} = await start(
		{
			async watchGpus(intervalMs) {
				await new Promise<void>((resolve) => {
					answers.push(resolve);
				});
				return all.get(intervalMs)!.provider;
			},
		},
		{box, watched: all.get(60_000)!.provider, scanIntervalMs: 60_000},
	);
	await press(':', 'interval 0.5s', keys.enter);
	await press(keys.escape, ':', 'interval 1s', keys.enter);
	await expect.poll(() => answers.length).toBe(1);
	answers[0]!();
	await expect.poll(() => answers.length).toBe(2);
	answers[1]!();
	await shows('Until this monitor ends: interval 1s');
	await expect.poll(() => all.get(1000)!.counts.scans).toBeGreaterThan(1);
	expect(store.getState().settings.scanIntervalMs).toBe(1000);
	expect(Array.from(all.values(), ({counts}) => counts.closes)).toEqual([1, 0, 1]);
});

test('a scan interval that cannot be set shows an error and changes nothing', async () => {
	const watchGpus = async (): Promise<GpuProvider> => {
		throw new CanhazgpuError('failed', 'The program was replaced', {hint: 'Start it again.'});
	};

	const {press, shows, store} = await start({watchGpus});
	await press('T', keys.right, keys.down, keys.right, keys.enter);
	await shows('ERR The program was replaced. Start it again.');
	expect(presentOptions(store.getState())).toMatchObject({theme: 'auto', scanIntervalMs: 2000});
	expect(store.getState().dialog?.kind).toBe('options');
});

function temporaryFile(text: string): string {
	const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-options-'));
	onTestFinished(() => {
		rmSync(directory, {recursive: true});
	});
	const file = path.join(directory, 'config.yaml');
	writeFileSync(file, text);
	return file;
}

const saverFor = (file: string, given: readonly string[] = [], environment: NodeJS.ProcessEnv = {}): SaveOptions =>
	optionsSaver(file, {isGiven: (setting) => given.includes(setting)}, environment);

const text = `# mine
redis:
  port: 7000 # the other one
top:
  fold: true # one row each
  keys: { release: D }
web.port: 9000
`;

test('the key S in the options dialog saves the options in the config file and keeps the rest of the file', async () => {
	const file = temporaryFile(text);
	const {press, shows, store} = await start({saveOptions: saverFor(file)}, {hasMouse: true});
	await press('T', keys.right, keys.right, keys.down, keys.right, keys.down, keys.down, keys.right);
	expect(readFileSync(file, 'utf8')).toBe(text);
	await press('S');
	await shows('OK Saved in');
	expect(presentOptions(store.getState())).toMatchObject({theme: 'light', scanIntervalMs: 5000, isMouseOn: false});
	const added = '  theme: light\n  interval: 5s\n  mouse: false\n';
	const [before, after] = text.split(/(?=web\.port)/v, 2);
	expect(readFileSync(file, 'utf8')).toBe(before! + added + after!);
	await press('O', 'S');
	await shows('needs no change: it already contains these values');
	// A default removes the setting again.
	await press('O', keys.left, keys.left, keys.down, keys.left, keys.down, keys.down, keys.left, 'S');
	await shows('OK Saved in');
	expect(readFileSync(file, 'utf8')).toBe(text);
});

test('the key S in the options dialog does not save an option that only a flag has set', async () => {
	const file = temporaryFile('');
	const {press, shows, store} = await start({saveOptions: saverFor(file, ['top.interval'])}, {scanIntervalMs: 7000});
	await press('O', 'S');
	await shows('WARN Nothing to save: change an option first');
	expect(store.getState().dialog?.kind).toBe('options');
	await press(keys.right, 'S');
	await shows(/OK Saved in \S+: theme dark/v);
	expect(readFileSync(file, 'utf8')).toBe('top:\n  theme: dark\n');
});

test('the key S writes a default value only if the config file has the setting or GNU screen has another default', async () => {
	const file = temporaryFile('');
	await saverFor(file, ['top.theme'])({theme: 'auto', graphs: 'braille', columns: undefined, preset: 'default'});
	expect(readFileSync(file, 'utf8')).toBe('top:\n  theme: auto\n');
	await saverFor(file, [], {STY: '1.pts'})({isMouseOn: true, scanIntervalMs: 500, columns: ['gpu', 'state']});
	expect(readFileSync(file, 'utf8')).toBe(
		'top:\n  theme: auto\n  mouse: true\n  interval: 0.5s\n  columns: [ gpu, state ]\n',
	);
	await saverFor(file)({isMouseOn: true, theme: 'auto', scanIntervalMs: 2000, columns: undefined});
	expect(readFileSync(file, 'utf8').trim()).toBe('{}');
});

test('the key S keeps the options dialog open and shows the reason if the config cannot be written', async () => {
	const saveOptions: SaveOptions = async () => {
		throw new CanhazgpuError('config', 'the disk is full', {hint: 'Make room.'});
	};

	const {press, shows, hides, store} = await start({saveOptions});
	await press('T', keys.right, 'S');
	await shows('ERR the disk is full. Make room.');
	expect(store.getState().dialog?.kind).toBe('options');
	await press(keys.escape);
	await hides('Options');
});

test('the key S shows an error if top runs without a config', async () => {
	const {press, shows} = await start();
	await press('O', 'S');
	await shows('ERR This monitor has no config file to save this in');
});
