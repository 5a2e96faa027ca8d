/** Settings that the monitor saves in the user's config file without changing the rest of the file. */
import {
	chmodSync,
	existsSync,
	mkdtempSync,
	readFileSync,
	realpathSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {loadConfig} from '../../source/config/config.js';
import {saveSettings, type SavedSettings} from '../../source/config/save.js';
import type {SettingPath} from '../../source/config/schema.js';

let home: string;
const before = process.env['HOME'];

beforeEach(() => {
	home = realpathSync(mkdtempSync(path.join(tmpdir(), 'canhazgpu-save-')));
	process.env['HOME'] = home;
});

afterEach(() => {
	process.env['HOME'] = before;
	rmSync(home, {recursive: true});
});

const file = (name = '.canhazgpu.yaml'): string => path.join(home, name);

const settings = (preset: string | undefined, columns?: readonly string[], isFolded?: boolean): SavedSettings =>
	new Map<SettingPath, unknown>([
		['top.preset', preset],
		['top.columns', columns],
		['top.fold', isFolded],
	]);

const load = async () =>
	loadConfig({flags: new Map(), environment: {}, readsDirectory: false, machineFile: path.join(home, 'none')});

test('saveSettings creates a file with mode 600 and writes only changed settings', async () => {
	expect(await saveSettings(settings(undefined), undefined)).toEqual({file: file(), isChanged: false});
	expect(existsSync(file())).toBe(false);
	expect(await saveSettings(settings('dense', ['gpu', 'state', 'fan']), undefined)).toEqual({
		file: file(),
		isChanged: true,
	});
	expect(readFileSync(file(), 'utf8')).toBe('top:\n  preset: dense\n  columns: [ gpu, state, fan ]\n');
	// eslint-disable-next-line no-bitwise
	expect(statSync(file()).mode & 0o777).toBe(0o600);
	const config = await load();
	expect([config.get('top.preset'), config.get('top.columns'), config.warnings]).toEqual([
		'dense',
		['gpu', 'state', 'fan'],
		[],
	]);
	expect(await saveSettings(settings('dense', ['gpu', 'state', 'fan']), undefined)).toMatchObject({isChanged: false});
	await saveSettings(settings(undefined), undefined);
	expect((await load()).isGiven('top.preset')).toBe(false);
});

test.each([
	[
		'# mine\nredis:\n  port: 7000 # the other one\ntop:\n  theme: light\n',
		'# mine\nredis:\n  port: 7000 # the other one\ntop:\n  theme: light\n  preset: queue\n',
	],
	['top.preset: dense # dotted\nrun: {quiet: true}\n', 'top.preset: queue # dotted\nrun: { quiet: true }\n'],
	['top:\nreserve: {gpus: 2}\n', 'top:\n  preset: queue\nreserve: { gpus: 2 }\n'],
	['---\n# top: {theme: light}\n', '---\ntop:\n  preset: queue\n# top: {theme: light}\n'],
	['~\n', 'top:\n  preset: queue\n'],
	[
		'top:\n  # theme: light # on the projector\nreserve: {gpus: 2}\n',
		'top:\n  preset: queue\n  # theme: light # on the projector\nreserve: { gpus: 2 }\n',
	],
])('saveSettings keeps comments, other settings and the mode of a YAML file (case %#)', async (text, expected) => {
	writeFileSync(file(), text);
	chmodSync(file(), 0o640);
	await saveSettings(settings('queue'), undefined);
	expect(readFileSync(file(), 'utf8')).toBe(expected);
	// eslint-disable-next-line no-bitwise
	expect(statSync(file()).mode & 0o777).toBe(0o640);
	expect((await load()).get('top.preset')).toBe('queue');
	await saveSettings(settings(undefined), undefined);
	expect((await load()).isGiven('top.preset')).toBe(false);
});

test('saveSettings keeps the other settings of a JSON file', async () => {
	const kept = path.join(home, 'kept.json');
	writeFileSync(kept, '{"redis": {"port": 7000}, "top": {"interval": "5s"}}');
	symlinkSync(kept, file('.canhazgpu.json'));
	expect(await saveSettings(settings('dense', ['gpu', 'state']), undefined)).toMatchObject({
		file: file('.canhazgpu.json'),
	});
	expect(JSON.parse(readFileSync(kept, 'utf8'))).toEqual({
		redis: {port: 7000},
		top: {interval: '5s', preset: 'dense', columns: ['gpu', 'state']},
	});
	await saveSettings(settings(undefined), undefined);
	expect(JSON.parse(readFileSync(kept, 'utf8'))).toEqual({redis: {port: 7000}, top: {interval: '5s'}});
});

test('saveSettings saves and removes a boolean setting', async () => {
	await saveSettings(settings(undefined, undefined, false), undefined);
	expect(readFileSync(file(), 'utf8')).toBe('top:\n  fold: false\n');
	expect((await load()).get('top.fold')).toBe(false);
	await saveSettings(settings(undefined), undefined);
	expect((await load()).get('top.fold')).toBeUndefined();
});

test('saveSettings writes the file that --config names', async () => {
	const named = file('other.yaml');
	expect(await saveSettings(settings('dense'), named)).toEqual({file: named, isChanged: true});
	expect(existsSync(file())).toBe(false);
});

test('saveSettings rejects TOML, invalid YAML and a world-writable file', async () => {
	writeFileSync(file('.canhazgpu.toml'), '# mine\n[redis]\nport = 7000\n');
	await expect(saveSettings(settings('dense'), undefined)).rejects.toMatchObject({
		code: 'config',
		message: expect.stringContaining('canhazgpu cannot change TOML without losing the comments') as unknown,
		hint: 'Add these lines yourself: top.preset = "dense"',
	});
	rmSync(file('.canhazgpu.toml'));
	writeFileSync(file(), 'top: [\n');
	await expect(saveSettings(settings('dense'), undefined)).rejects.toThrow(
		'it is not valid YAML, line 2: the indentation is wrong, or a bracket is not closed',
	);
	expect(readFileSync(file(), 'utf8')).toBe('top: [\n');
	writeFileSync(file(), '{}\n');
	chmodSync(file(), 0o666);
	await expect(saveSettings(settings('dense'), undefined)).rejects.toThrow('others can change it');
	expect(readFileSync(file(), 'utf8')).toBe('{}\n');
});

test('loadConfig accepts only known columns in top.columns', async () => {
	const columnsOf = async (text: string) => {
		writeFileSync(file(), text);
		return (await load()).get('top.columns');
	};

	expect(await columnsOf('top: {columns: [owner, gpu, fan]}')).toEqual(['gpu', 'owner', 'fan']);
	await expect(columnsOf('top: {columns: [gpu, color]}')).rejects.toThrow(
		/top\.columns .*a list of some of these columns: gpu, model/v,
	);
	await expect(columnsOf('top: {columns: [gpu, fan, fan]}')).rejects.toThrow('names each column only once');
	await expect(columnsOf('top: {preset: huge}')).rejects.toThrow('one of default, dense, processes, queue');
});

test('saveSettings keeps the comments of a section whose last setting it removes', async () => {
	writeFileSync(file(), 'top:\n  preset: dense\n  # theme: light\n');
	await saveSettings(settings(undefined), undefined);
	expect(readFileSync(file(), 'utf8')).toBe('top:\n  {}\n  # theme: light\n');
	expect((await load()).warnings).toEqual([]);
});
