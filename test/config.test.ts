import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {checkSetting, settingPaths, settings} from '../source/config-schema.js';
import {loadConfig} from '../source/config.js';
import {commands} from '../source/commands/index.js';
import {createEmbeddedBox} from './_helpers/cli.js';

let directory: string;

beforeEach(() => {
	directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-config-'));
});

afterEach(() => {
	rmSync(directory, {recursive: true});
});

const write = (name: string, content: string): string => {
	const file = path.join(directory, name);
	writeFileSync(file, content);
	return file;
};

const noFlags = new Map<never, never>();

test('every default passes its own check', () => {
	for (const setting of settingPaths) {
		const {fallback} = settings[setting];
		expect(fallback === undefined || 'value' in checkSetting(setting, fallback)).toBe(true);
	}
});

test('every flag that overrides a setting names one that exists', async () => {
	for (const load of Object.values(commands)) {
		const command = await load();
		for (const {setting} of Object.values(command.flags)) {
			expect(setting === undefined || settingPaths.includes(setting)).toBe(true);
		}
	}
});

describe('the same settings in each format', () => {
	test.each([
		['a.yaml', 'redis:\n  host: box\n  port: 7000\nreserve: {duration: 2h}\nremote_hosts: [a, b]\n'],
		['a.yml', 'redis.host: box\nredis.port: 7000\nreserve.duration: 2h\nremote_hosts: [a, b]\n'],
		['a.json', '{"redis": {"host": "box", "port": 7000}, "reserve": {"duration": "2h"}, "remote_hosts": ["a", "b"]}'],
		['a.toml', 'remote_hosts = ["a", "b"]\n[redis]\nhost = "box"\nport = 7000\n[reserve]\nduration = "2h"\n'],
	])('%s', async (name, content) => {
		const config = await loadConfig({flags: noFlags, environment: {}, file: write(name, content)});
		expect(config.warnings).toEqual([]);
		expect([
			config.get('redis.host'),
			config.get('redis.port'),
			config.get('reserve.duration'),
			config.get('remote_hosts'),
			config.get('redis.db'),
		]).toEqual(['box', 7000, 7200, ['a', 'b'], 0]);
	});
});

test('flags win over the environment, that over files, and those over defaults', async () => {
	const file = write('a.yaml', 'redis: {host: file, port: 1, db: 1}\nmemory: {threshold: 5}');
	const config = await loadConfig({
		flags: new Map([['redis.host', {text: 'flag', name: '--redis-host'}]]),
		environment: {CANHAZGPU_REDIS_HOST: 'environment', CANHAZGPU_REDIS_PORT: '2', CANHAZGPU_REDIS_DB: ''},
		file,
	});
	expect([
		config.get('redis.host'),
		config.get('redis.port'),
		config.get('redis.db'),
		config.get('memory.threshold'),
	]).toEqual(['flag', 2, 1, 5]);
	expect(config.isGiven('redis.db')).toBe(true);
	expect(config.isGiven('reserve.duration')).toBe(false);
	expect(config.get('reserve.duration')).toBe(8 * 3600);
	expect(config.get('extend.duration')).toBeUndefined();
});

test('an empty file, comments and empty keys are no settings', async () => {
	for (const content of ['', '# nothing\n', 'redis:\n  host:\n']) {
		const config = await loadConfig({flags: noFlags, environment: {}, file: write('a.yaml', content)});
		expect(config.get('redis.host')).toBe('localhost');
	}
});

test('prototypes stay as they are', async () => {
	for (const name of ['__proto__', 'constructor', 'prototype']) {
		const file = write('a.json', `{"memory": {"${name}": {"polluted": 1}}}`);
		await expect(loadConfig({flags: noFlags, environment: {}, file})).rejects.toThrow(
			`the key memory.${name} is not allowed`,
		);
	}

	expect(Reflect.get({}, 'polluted')).toBeUndefined();
});

test('the files of the home and of the working directory are found, the nearer one wins', async () => {
	const box = await createEmbeddedBox(3);
	writeFileSync(path.join(box.home, '.canhazgpu.toml'), '[reserve]\ngpus = 2\n');
	expect((await box.run('reserve --short')).stdout).toBe('0,1\n');
	await box.run('release');
	// The home is the working directory here, and a YAML file comes before a TOML one.
	writeFileSync(path.join(box.home, '.canhazgpu.yaml'), 'reserve: {gpus: 3}\n');
	expect((await box.run('reserve --short')).stdout).toBe('0,1,2\n');
	box.remove();
});
