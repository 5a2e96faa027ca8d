import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import fc from 'fast-check';
import {afterEach, beforeEach, describe, expect, onTestFinished, test} from 'vitest';
import {checkSetting, settingPaths, settings} from '../../source/config/schema.js';
import {environmentName, loadConfig} from '../../source/config/config.js';
import {commands} from '../../source/commands/index.js';
import {CanhazgpuError} from '../../source/errors.js';
import {withoutSecrets} from '../../source/host/tool/secrets.js';
import {createEmbeddedBox, starter, starterText, type Box} from '../_helpers/program/cli.js';

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

test('the default of every setting is valid', () => {
	for (const setting of settingPaths) {
		const {fallback} = settings[setting];
		expect(fallback === undefined || 'value' in checkSetting(setting, fallback)).toBe(true);
	}
});

test('redis.socket must be an absolute path, because admin records it for all working directories', async () => {
	const load = async (socket: string) =>
		loadConfig({flags: noFlags, environment: {CANHAZGPU_REDIS_SOCKET: socket}, file: write('a.yaml', '')});
	expect((await load('/run/r.sock')).get('redis.socket')).toBe('/run/r.sock');
	await expect(load('r.sock')).rejects.toThrow(
		'CANHAZGPU_REDIS_SOCKET must be the absolute path of a socket, such as /run/redis/redis.sock, not "r.sock"',
	);
});

test('pool.directory must be an absolute path, because a relative path is another pool in each working directory', async () => {
	await expect(
		loadConfig({flags: noFlags, environment: {CANHAZGPU_POOL_DIRECTORY: 'pools'}, file: write('a.yaml', '')}),
	).rejects.toThrow('CANHAZGPU_POOL_DIRECTORY must be the absolute path of a directory, not "pools"');
});

test('every flag that overrides a setting names an existing setting', async () => {
	for (const load of Object.values(commands)) {
		const command = await load();
		for (const {setting} of Object.values(command.flags)) {
			expect(setting === undefined || settingPaths.includes(setting)).toBe(true);
		}
	}
});

describe('loadConfig', () => {
	test.each([
		['a.yaml', 'redis:\n  host: box\n  port: 7000\nreserve: {duration: 2h}\nremote_hosts: [a, b]\n'],
		['a.yml', 'redis.host: box\nredis.port: 7000\nreserve.duration: 2h\nremote_hosts: [a, b]\n'],
		['a.json', '{"redis": {"host": "box", "port": 7000}, "reserve": {"duration": "2h"}, "remote_hosts": ["a", "b"]}'],
		['a.toml', 'remote_hosts = ["a", "b"]\n[redis]\nhost = "box"\nport = 7000\n[reserve]\nduration = "2h"\n'],
	])('reads the same settings from %s', async (name, content) => {
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

test('flags override the environment, which overrides files, which override defaults', async () => {
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

test('a config file that is empty or has only comments or empty keys sets nothing', async () => {
	for (const content of ['', '# nothing\n', 'redis:\n  host:\n']) {
		const config = await loadConfig({flags: noFlags, environment: {}, file: write('a.yaml', content)});
		expect(config.get('redis.host')).toBe('localhost');
	}
});

test.each([
	['.json', ''],
	['.json', ' \n'],
	['.toml', ''],
	['.json', '\u{FEFF}{"reserve": {"gpus": 3}}'],
	['.yaml', '\u{FEFF}reserve: {gpus: 3}'],
	['.toml', '\u{FEFF}[reserve]\ngpus = 3'],
])('loadConfig accepts a %s file with the content %j', async (extension, content) => {
	const config = await loadConfig({flags: noFlags, environment: {}, file: write(`a${extension}`, content)});
	expect(config.get('reserve.gpus')).toBe(content.trim() === '' ? undefined : 3);
	expect(config.warnings).toEqual([]);
});

describe('--config with a stream', () => {
	/** Runs `reserve --short` in bash. The script calls the program as `chg`. */
	const reserved = async (box: Box, script: string) => {
		const child = spawn(
			'bash',
			['-c', `chg() { ${[starter, ...starterText].map((word) => `'${word}'`).join(' ')} "$@"; }; ${script}`],
			{
				cwd: box.home,
				env: {...box.environment},
				stdio: ['ignore', 'pipe', 'pipe'],
			},
		);
		const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
		return {exitCode: child.exitCode, stdout, stderr};
	};

	test('sets nothing for /dev/null', async () => {
		const config = await loadConfig({flags: noFlags, environment: {}, file: '/dev/null'});
		expect(config.get('redis.host')).toBe('localhost');
	});

	test('reads a pipe to its end even if the writer is slow', async () => {
		const box = await createEmbeddedBox(3);
		onTestFinished(box.remove);
		expect(
			await reserved(box, "chg reserve --short --config <(sleep 0.2; echo 'reserve:'; sleep 0.2; echo '  gpus: 2')"),
		).toEqual({exitCode: 0, stdout: '0,1\n', stderr: ''});
	});

	test('reads a FIFO once and reuses its content', async () => {
		const file = path.join(directory, 'fifo');
		execFileSync('mkfifo', [file]);
		const writer = spawn('sh', ['-c', 'echo "reserve: {gpus: 2}" > "$1"', 'sh', file], {stdio: 'ignore'});
		for (const gpus of [2, 2]) {
			const config = await loadConfig({flags: noFlags, environment: {}, file});
			expect(config.get('reserve.gpus')).toBe(gpus);
		}

		await once(writer, 'close');
	});

	test('does not wait for a writer during Tab completion', async () => {
		const file = path.join(directory, 'fifo');
		execFileSync('mkfifo', [file]);
		const options = {flags: noFlags, environment: {}, file, readsDirectory: false, readsStreams: false};
		await expect(loadConfig(options)).rejects.toThrow('it is not a regular file');
	});
});

test('an empty config section causes no warning', async () => {
	for (const content of ['redis:\nreserve: ""\n', 'redis: {}\n']) {
		const config = await loadConfig({flags: noFlags, environment: {}, file: write('a.yaml', content)});
		expect(config.warnings).toEqual([]);
	}
});

test.each([
	['a.yaml', 'redis: redis://:secret@box', 'redis must be a map of settings, not a single value'],
	['a.json', '{"run": 2}', 'run must be a map of settings, not a single value'],
	['a.toml', '[[redis]]\nhost = "box"', 'redis must be a map of settings, not a list'],
])('%s with the invalid section %j is rejected: %s', async (name, content, problem) => {
	const file = write(name, content);
	await expect(loadConfig({flags: noFlags, environment: {}, file})).rejects.toMatchObject({
		exitCode: 2,
		message: `${file}: ${problem}`,
	});
});

test('an empty CANHAZGPU_CONFIG counts as unset', async () => {
	const named = write('a.yaml', 'reserve: {gpus: 3}');
	const gpus = async (variable: string) => {
		const locations = {readsDirectory: false, machineFile: path.join(directory, 'none.yaml')};
		const config = await loadConfig({flags: noFlags, environment: {CANHAZGPU_CONFIG: variable}, ...locations});
		return config.get('reserve.gpus');
	};

	expect(await gpus(named)).toBe(3);
	expect(await gpus('')).not.toBe(3);
});

test('loadConfig rejects a key such as __proto__', async () => {
	for (const name of ['__proto__', 'constructor', 'prototype']) {
		const file = write('a.json', `{"memory": {"${name}": {"polluted": 1}}}`);
		await expect(loadConfig({flags: noFlags, environment: {}, file})).rejects.toThrow(
			`the key memory.${name} is not allowed`,
		);
	}

	expect(Reflect.get({}, 'polluted')).toBeUndefined();
});

test('reserve reads ~/.canhazgpu.toml, but prefers ~/.canhazgpu.yaml', async () => {
	const box = await createEmbeddedBox(3);
	writeFileSync(path.join(box.home, '.canhazgpu.toml'), '[reserve]\ngpus = 2\n');
	expect((await box.run('reserve --short')).stdout).toBe('0,1\n');
	await box.run('release');
	// In this test the home directory is also the working directory.
	writeFileSync(path.join(box.home, '.canhazgpu.yaml'), 'reserve: {gpus: 3}\n');
	expect((await box.run('reserve --short')).stdout).toBe('0,1,2\n');
	box.remove();
});

/** Loads the file and returns the config error, which is expected. Fails if loading takes too long. */
async function errorOf(file: string, environment: Readonly<Record<string, string>> = {}): Promise<CanhazgpuError> {
	const began = performance.now();
	let error: unknown;
	try {
		await loadConfig({flags: noFlags, environment, file});
	} catch (error_) {
		error = error_;
	}

	// With the limits, each file takes less than a second. Without them, some took minutes.
	expect(performance.now() - began).toBeLessThan(15_000);
	expect(error).toBeInstanceOf(CanhazgpuError);
	return error as CanhazgpuError;
}

const mebibyte = 2 ** 20;

describe('limits and errors of config files', () => {
	test.each<[what: string, put: (file: string) => void, problem: string]>([
		[
			'a link to /dev/zero',
			(file) => {
				symlinkSync('/dev/zero', file);
			},
			'it is longer than 1048576 bytes',
		],
		[
			'a socket',
			(file) => {
				execFileSync('python3', ['-c', 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])', file]);
			},
			'it is not a regular file',
		],
		[
			'a directory',
			(file) => {
				mkdirSync(file);
			},
			'it is a directory',
		],
		[
			'a file of a terabyte',
			(file) => {
				writeFileSync(file, 'a: 1\n');
				truncateSync(file, 2 ** 40);
			},
			'it is longer than 1048576 bytes',
		],
		['missing', () => undefined, 'there is no such file'],
		[
			'a dangling link',
			(file) => {
				symlinkSync(path.join(directory, 'gone'), file);
			},
			'it is a link to a missing file',
		],
	])('a config file is rejected if it is %s', async (_, put, problem) => {
		const file = path.join(directory, 'a.yaml');
		put(file);
		expect(await errorOf(file)).toMatchObject({
			exitCode: 2,
			message: `Cannot read the config file ${file}: ${problem}`,
		});
	});

	const numbered = (count: number, line: (number: number) => string): string =>
		Array.from({length: count}, (_, number) => line(number)).join('');

	test.each<[name: string, what: string, content: string, problem: RegExp]>([
		['a.yaml', '60,000 keys', numbered(60_000, (number) => `k${number}: 1\n`), /more than 50000 words/v],
		['a.yaml', '2,000 keys', numbered(2000, (number) => `k${number}: 1\n`), /more than 1000 settings/v],
		['a.json', '60,000 keys', `{${numbered(60_000, (number) => `"k${number}":1,`)}"k":1}`, /more than 1000 settings/v],
		['a.toml', '60,000 keys', numbered(60_000, (number) => `k${number} = 1\n`), /more than 1000 settings/v],
		['a.yaml', 'a map that contains itself', 'a: &a\n  b: *a\n', /nested too deeply/v],
		[
			'a.yaml',
			'a list that contains itself',
			'remote_hosts: &a\n  - *a\n',
			/remote_hosts must be a host name, or user@host, not/v,
		],
		['a.yaml', 'deeply nested lists without ends', '['.repeat(mebibyte - 1), /nested too deeply/v],
		['a.yaml', 'deeply nested keys', '? '.repeat(mebibyte / 2), /nested too deeply/v],
		['a.yaml', 'deeply nested list items', '- '.repeat(mebibyte / 2), /nested too deeply/v],
		['a.yaml', 'many lines', 'a:\n'.repeat(mebibyte / 3), /more than 50000 words/v],
		['a.yaml', 'many mistakes', '}\n'.repeat(mebibyte / 2), /more than 50000 words/v],
		['a.yaml', 'many aliases', `- &a x\n${'- *a\n'.repeat(5000)}`, /more than 100 aliases/v],
		['a.yaml', 'many directives', '%a\n'.repeat(mebibyte / 3), /more than 50000 words/v],
		['a.json', 'deeply nested lists', '['.repeat(200_000) + ']'.repeat(200_000), /not valid JSON|not a list/v],
		['a.toml', 'deeply nested lists', `a = ${'['.repeat(mebibyte - 10)}`, /not valid TOML \(line 1\)/v],
		['a.toml', 'deeply nested tables', `${'a.'.repeat(mebibyte / 2 - 10)}a = 1`, /nested too deeply/v],
		[
			'a.json',
			'a long list',
			`{"remote_hosts":[${'1,'.repeat(mebibyte / 2 - 20)}1]}`,
			/remote_hosts must be a host name/v,
		],
	])('%s with %s is rejected with an error that names the file', async (name, _, content, problem) => {
		const file = write(name, content);
		const {exitCode, message} = await errorOf(file);
		expect(exitCode).toBe(2);
		expect(message).toContain(file);
		expect(message).toMatch(problem);
		expect(message.length).toBeLessThan(file.length + 250);
	});

	test('a YAML file with a repeated key is rejected with the line number', async () => {
		const file = write('a.yaml', 'redis: {port: 1}\nstore: redis\nredis: {port: 2}\n');
		expect((await errorOf(file)).message).toBe(
			`Cannot read the config file ${file}: it is not valid YAML, line 3: a key appears twice`,
		);
	});

	test('a YAML file with aliases of existing anchors is accepted', async () => {
		const file = write(
			'a.yaml',
			'reserve: &usual {duration: 2h, gpus: 2}\nreport: {days: &days 7}\nextend: {duration: &d 1h}\nrun: {wait: *d}\n',
		);
		const config = await loadConfig({flags: noFlags, environment: {}, file});
		expect([config.get('reserve.gpus'), config.get('run.wait')]).toEqual([2, 3600]);
	});

	test('loadConfig throws no errors but CanhazgpuError for random content', async () => {
		const word = fc.constantFrom(
			'a',
			'redis',
			'port',
			':',
			': ',
			'- ',
			'? ',
			'[',
			']',
			'{',
			'}',
			',',
			'&a ',
			'*a',
			'|',
			'>',
			'"',
			"'",
			'\n',
			'\n  ',
			'#',
			'!',
			'%',
			'1',
			'~',
			'<<',
			'---\n',
			'\t',
			'\u{FEFF}',
		);
		await fc.assert(
			fc.asyncProperty(
				fc.array(word, {maxLength: 20}),
				fc.constantFrom('a.yaml', 'a.json', 'a.toml'),
				async (words, name) => {
					const file = write(name, words.join(''));
					try {
						await loadConfig({flags: noFlags, environment: {}, file});
					} catch (error) {
						expect(error).toBeInstanceOf(CanhazgpuError);
					}
				},
			),
			{numRuns: 300},
		);
	});
});

test('loadConfig shortens the URL in its warning about a list that was written in braces by mistake', async () => {
	const file = write('a.yaml', 'notify: {terminal, slack:https://example.org/hunter2}\n');
	const {warnings} = await loadConfig({flags: noFlags, environment: {}, file});
	expect(warnings.join('\n')).toContain('unknown setting notify.slack:https://...');
	expect(warnings.join('\n')).not.toContain('hunter2');
});

test('loadConfig names the first five unknown settings and counts the rest', async () => {
	const keys = Array.from({length: 40}, (_, number) => `"k${number}${'x'.repeat(number === 0 ? 5000 : 0)}": 1`);
	const file = write('a.json', `{${keys.join(',')}}`);
	const {warnings} = await loadConfig({flags: noFlags, environment: {}, file});
	expect(warnings).toHaveLength(6);
	expect(warnings[1]).toMatch(/: unknown setting k1\. Did you mean \S+\?$/v);
	expect(warnings[5]).toBe(`${file}: and 35 more unknown settings`);
	expect(warnings.join('').length).toBeLessThan(1500);
});

test.each([
	['reserve: {\n', 'line 2: the indentation is wrong, or a bracket is not closed'],
	['reserve:\n\tgpus: 2\n', 'line 2: there is a tab where YAML allows only spaces'],
	['redis\n  host: x\n', 'line 1: a key extends over several lines: a colon may be missing'],
	[
		'reserve:\n  note: a: b\n',
		'line 2: there is a key inside a value: the indentation is wrong, or text with a colon needs quotes',
	],
	[
		'reserve: {note: "\\y"}\n',
		String.raw`line 1: a \ in double quotes does not start a known escape sequence (write \\ for a backslash)`,
	],
	[
		'reserve:\n  gpus: 2\n    note: x\n',
		'line 2: there is a key inside a value: the indentation is wrong, or text with a colon needs quotes',
	],
	['reserve: &a &b {gpus: 2}\n', 'line 1: it is not valid'],
])('loadConfig explains the YAML mistake %j: %s', async (content, problem) => {
	const file = write('a.yaml', content);
	expect((await errorOf(file)).message).toBe(`Cannot read the config file ${file}: it is not valid YAML, ${problem}`);
});

describe('secrets in the configuration', () => {
	test.each([
		[
			'a.yaml',
			'redis:\n  password: *hunter2\n',
			'it is not valid YAML, line 2: an alias that is not defined (text that begins with * needs quotes)',
		],
		['a.yaml', 'redis:\n  password: |hunter2\n', 'it is not valid YAML, line 2: there is unexpected text'],
		['a.yaml', 'redis:\n  password: >hunter2\n', 'it is not valid YAML, line 2: there is unexpected text'],
		[
			'a.yaml',
			'redis:\n  password: "hunter2\n',
			'it is not valid YAML, line 3: a character is missing, such as a colon, a comma or a quote',
		],
		[
			'a.yaml',
			'redis:\n  password: %hunter2\n x: @hunter2',
			'it is not valid YAML, line 2: text that begins with this character needs quotes',
		],
		['a.yaml', 'redis:\n  password: {hunter2: 1}\n', undefined],
		['a.yaml', 'redis:\n  url: [hunter2]\n', undefined],
		['a.yaml', 'notify:\n  webhook: hooks.example/hunter2\n', undefined],
		['a.yaml', 'notify:\n  command: curl -H hunter2\n', undefined],
		['a.JSON', '{"redis": {"password": hunter2}}', 'it is not valid JSON'],
		['a.json', '{\n"redis": {"password": "hunter2",}}', 'it is not valid JSON (line 2)'],
		['a.toml', '[redis]\npassword = *hunter2\n', 'it is not valid TOML (line 2)'],
	])('do not appear in the error about %s with %j', async (name, content, problem) => {
		const file = write(name, content);
		const {message, hint} = await errorOf(file);
		expect(`${message}${hint}`).not.toContain('hunter2');
		expect(message).toContain(file);
		if (problem !== undefined) {
			expect(message).toBe(`Cannot read the config file ${file}: ${problem}`);
		}
	});

	const secrets = settingPaths.filter((name) => settings[name].isSecret);

	test('are the Redis password, the Redis URL and the destinations of notifications', () => {
		expect(secrets).toEqual(['redis.url', 'redis.password', 'notify.to', 'notify.command', 'notify.webhook']);
	});

	test.each(secrets)('are removed from the environment of child processes: %s', (name) => {
		const variable = environmentName(name);
		expect(withoutSecrets({[variable]: 'redis://x:hunter2@y', HOME: '/'})).toEqual({HOME: '/'});
	});

	test('do not appear in the error about an environment variable', async () => {
		const {message} = await errorOf(write('empty.yaml', ''), {CANHAZGPU_NOTIFY_WEBHOOK: 'hunter2'});
		expect(message).toBe('CANHAZGPU_NOTIFY_WEBHOOK must be an address that begins with http:// or https://');
	});

	test('include every setting with pass, token, secret or key in its name, except two file names and top.keys', () => {
		expect(settingPaths.filter((name) => /pass|token|secret|key/v.test(name))).toEqual([
			'redis.password',
			'redis.password_file',
			// The value is a file name and not a key.
			'redis.tls_key_file',
			// The values are key bindings.
			'top.keys',
		]);
	});
});
