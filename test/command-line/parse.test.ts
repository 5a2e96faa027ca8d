/** Parses command lines without running them. The results must match those of cobra, the library of the Go program. */
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterAll, describe, expect, test} from 'vitest';
import {commandNames, findCommand} from '../../source/command-line/find-command.js';
import {completeWords} from '../../source/command-line/completion/words.js';
import {wantedOf} from '../../source/commands/shared/request-flags.js';
import {globalFlags} from '../../source/command-line/flags.js';
import {schemas} from '../../source/help/schema/index.js';
import {understand} from '../../source/main.js';

const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-arguments-'));

afterAll(() => {
	rmSync(directory, {recursive: true});
});

/** Parses a command line with only this text as the config file. */
async function read(typed: string | readonly string[], content = '') {
	const file = path.join(directory, 'config.yaml');
	writeFileSync(file, content, {mode: 0o600});
	const argv = typeof typed === 'string' ? typed.split(' ') : typed;
	const understood = await understand([...argv.slice(0, 1), '--config', file, ...argv.slice(1)]);
	if ('text' in understood) {
		throw new Error(`Only a text: ${understood.text}`);
	}

	return understood;
}

test.each(['constructor', '__proto__', 'yes'])('a switch such as --json rejects the value %s', async (value) => {
	await expect(read(`status --json=${value}`)).rejects.toThrow(`--json takes no value, but was given "${value}"`);
});

describe('flags and their values', () => {
	const hour = 3600;

	test.each<[typed: string | readonly string[], setting: string, value: unknown]>([
		['reserve -d2h', 'reserve.duration', 2 * hour],
		['reserve -d 2h', 'reserve.duration', 2 * hour],
		['reserve -d=2h', 'reserve.duration', 2 * hour],
		['reserve --duration=2h', 'reserve.duration', 2 * hour],
		['reserve -fd2h', 'reserve.duration', 2 * hour],
		['reserve -fd 2h', 'reserve.duration', 2 * hour],
		['reserve -sfd=2h', 'reserve.duration', 2 * hour],
		['reserve -fd2h', 'reserve.force', true],
		['reserve -sfd 2h', 'reserve.short', true],
		['reserve -w30m', 'reserve.wait', hour / 2],
		['reserve -g2', 'reserve.gpus', 2],
		['reserve -nfoo', 'reserve.note', 'foo'],
		['reserve -n=foo', 'reserve.note', 'foo'],
		['reserve -n-foo', 'reserve.note', '-foo'],
		['reserve -ualice', 'reserve.user', 'alice'],
		['run -t2h -- true', 'run.timeout', 2 * hour],
		['run -t 2h -g 1 -- true', 'run.timeout', 2 * hour],
		['run --nonblock=true -- true', 'run.nonblock', true],
		['run --nonblock=false -- true', 'run.nonblock', false],
		['run --nonblock --nonblock=false -- true', 'run.nonblock', false],
		['admin -g8 -pfake', 'admin.provider', 'fake'],
		['report -d7', 'report.days', 7],
		['web -p0', 'web.port', 0],
		// A value keeps its quotes, dashes and line breaks.
		[['reserve', '--note', '"quoted"'], 'reserve.note', '"quoted"'],
		[['reserve', "-n'quoted'"], 'reserve.note', "'quoted'"],
		[['reserve', '--note', '-5 % of the layers'], 'reserve.note', '-5 % of the layers'],
		[['reserve', '--note=--gpus 3'], 'reserve.note', '--gpus 3'],
		[['reserve', '--note', 'two\nlines'], 'reserve.note', 'two\nlines'],
	])('%j sets %s to %j', async (typed, setting, value) => {
		const {input} = await read(typed);
		expect(input.config.get(setting as 'reserve.note')).toEqual(value);
	});

	test.each<[typed: string, ids: string]>([
		['reserve -G1,3', '1,3'],
		['reserve -G 1 -G 3', '1,3'],
		['reserve -G1 --gpu-ids 3,4 -G=5', '1,3,4,5'],
		['release -G 1 -G 3', '1,3'],
		['extend -G0 -d 1h', '0'],
	])('%s selects GPUs %s', async (typed, ids) => {
		expect((await read(typed)).input.text('gpu-ids')).toBe(ids);
	});

	test('-j=false counts as not given, and -j=t as given', async () => {
		expect((await read('status -j=false')).input.has('json')).toBe(false);
		expect((await read('status -j=t')).input.has('json')).toBe(true);
	});

	test.each(['-v', '--version', 'status -v', 'status --version'])('%s prints the version', async (typed) => {
		expect(await understand(typed.split(' '))).toMatchObject({
			text: expect.stringMatching(/^\d+\.\d+\.\d+/v) as unknown,
		});
	});
});

test.each([
	[
		['report', '--days'],
		['1', '3', '7', '14', '30', '60', '90'],
	],
	[
		['report', '-d'],
		['1', '3', '7', '14', '30', '60', '90'],
	],
	[['help', 'json'], Object.keys(schemas)],
])('completion after %j offers the predefined values', async (before, offered) => {
	const options = {
		commands: commandNames,
		find: findCommand,
		globals: globalFlags,
		isDescribed: false,
		know: async () => [],
	};
	const completed = await completeWords(before, '', options);
	expect(completed.kind === 'words' && completed.candidates.map(({word}) => word)).toEqual(offered);
});

describe('an empty flag value', () => {
	test("for --note or --user removes the config file's value", async () => {
		const {input} = await read(['run', '-n', '', '--user=', '--', 'true'], 'run: {note: from the file, user: team}');
		expect(input.config.get('run.note')).toBeUndefined();
		expect(input.config.get('run.user')).toBeUndefined();
	});

	test('for --duration or --wait selects the built-in default', async () => {
		const {input} = await read(['reserve', '-d', '', '-w='], 'reserve: {wait: 5m}');
		expect(input.config.get('reserve.duration')).toBe(8 * 3600);
		expect(input.config.get('reserve.wait')).toBeUndefined();
	});

	test("for --timeout removes the config file's limit", async () => {
		const {input} = await read(['run', '-t', '', '--', 'true'], 'run: {timeout: 1h}');
		expect(input.config.get('run.timeout')).toBeUndefined();
	});

	test('for --gpu-ids is rejected', async () => {
		await expect(read(['reserve', '--gpu-ids='])).rejects.toMatchObject({
			exitCode: 2,
			message: expect.stringMatching(/ needs a value$/v) as unknown,
		});
	});
});

test.each([
	['reserve --gpus 2 --gpu-ids 1,2,3', '', 'Leave out --gpus: --gpu-ids says how many.'],
	[
		'reserve',
		'reserve: {gpus: 2, gpu-ids: [1, 2, 3]}',
		'Remove the setting reserve.gpus: reserve.gpu-ids says how many.',
	],
	['run -- true', 'run: {gpus: 2, gpu-ids: [1, 2, 3]}', 'Remove the setting run.gpus: run.gpu-ids says how many.'],
])('the hint for "%s" with config %j names the flag or setting to leave out', async (typed, content, hint) => {
	const {input, command} = await read(typed, content);
	expect(() => wantedOf(input, command.name as 'run')).toThrow(
		expect.objectContaining({message: 'conflicting gpu count (2) and gpu ids (count: 3)', hint}) as Error,
	);
});

describe('switches and lists in a config file', () => {
	test('are applied by run, reserve, release, status, queue and report', async () => {
		const file = `
run: {nonblock: true, gpu-ids: [1, 3], timeout: "", note: ""}
reserve: {nonblock: true, gpu-ids: "0, 2", short: true, force: true}
release: {gpu-ids: 5}
status: {json: true, summary: false}
queue: {json: true}
report: {json: true}
`;
		const {input} = await read('run -- true', file);
		expect(input.config.warnings).toEqual([]);
		const values = (
			[
				'run.nonblock',
				'run.gpu-ids',
				'run.timeout',
				'run.note',
				'reserve.nonblock',
				'reserve.gpu-ids',
				'reserve.short',
				'reserve.force',
				'release.gpu-ids',
				'status.json',
				'status.summary',
				'queue.json',
				'report.json',
			] as const
		).map((setting) => input.config.get(setting));
		expect(values).toEqual([
			true,
			[1, 3],
			undefined,
			undefined,
			true,
			[0, 2],
			true,
			true,
			[5],
			true,
			false,
			true,
			true,
		]);
	});

	test('are overridden by --short=false and --force=false', async () => {
		const {input} = await read('reserve --short=false --force=false', 'reserve: {short: true, force: true}');
		expect(input.config.get('reserve.short')).toBe(false);
		expect(input.config.get('reserve.force')).toBe(false);
	});

	test.each([
		'run: {gpu-ids: [1, x]}',
		'run: {gpu-ids: "1,"}',
		'run: {gpu-ids: "3-1"}',
		'run: {gpu-ids: "0-2000"}',
		'run: {gpu-ids: -1}',
		'run: {gpu-ids: [1.5]}',
		'run: {gpu-ids: []}',
	])('are rejected if the GPU ids are invalid: %s', async (file) => {
		await expect(read('run -- true', file)).rejects.toMatchObject({
			exitCode: 2,
			message: expect.stringContaining('run.gpu-ids must be GPU ids such as 1,3') as unknown,
		});
	});
});

describe('--gpus or --gpu-ids overrides the GPU count and ids of the config file', () => {
	test.each<[typed: string, file: string, ids: readonly number[] | undefined, count: number]>([
		['run -G 5 -- true', 'run: {gpus: 2}', [5], 1],
		['run -g 3 -- true', 'run: {gpu-ids: [1, 3]}', undefined, 3],
		['run -g 1 -- true', 'run: {gpu-ids: [1, 3]}', undefined, 1],
		['run -- true', 'run: {gpu-ids: [1, 3]}', [1, 3], 2],
		['run -- true', 'run: {gpu-ids: "0-2,5"}', [0, 1, 2, 5], 4],
		['run -G 0-2,5 -- true', '', [0, 1, 2, 5], 4],
	])('"%s" with config "%s" leads to ids=%j and count=%d', async (typed, file, ids, count) => {
		const {input} = await read(typed, file);
		expect(wantedOf(input, 'run')).toMatchObject({ids, count});
	});
});

describe('a GPU count that contradicts the GPU ids', () => {
	test.each([
		['run -g 2 -G 1 -- true', ''],
		['run -- true', 'run: {gpus: 3, gpu-ids: [1, 3]}'],
	])('is rejected in "%s" with config "%s"', async (typed, file) => {
		const {input} = await read(typed, file);
		expect(() => wantedOf(input, 'run')).toThrow(/^conflicting gpu count/v);
	});
});

test('status accepts a trailing --, but no words after it', async () => {
	expect((await read('status --json --')).input.has('json')).toBe(true);
	await expect(read('status -- x')).rejects.toThrow('status does not run a command, so it cannot be followed by --');
});

describe('a flag with an optional value', () => {
	test.each([
		['run --isolate -- true', 'auto', undefined],
		['run --isolate -g 2 -- true', 'auto', 2],
		['run --isolate=off --gpus=3 -- true', 'off', 3],
		['run --isolate= -- true', '', undefined],
		['run -- true', undefined, undefined],
	])('"%s" leads to --isolate=%j and --gpus=%j', async (typed, isolate, gpus) => {
		if (isolate === '') {
			await expect(read(typed)).rejects.toMatchObject({code: 'usage', message: '--isolate needs a value'});
			return;
		}

		const {input} = await read(typed);
		expect([input.text('isolate'), input.config.get('run.gpus')]).toEqual([isolate, gpus]);
	});

	test('takes a value only after "=", both on the command line and in completion', async () => {
		const options = {
			commands: commandNames,
			find: findCommand,
			globals: globalFlags,
			isDescribed: false,
			know: async () => [],
		};
		const {input} = await read('run --isolate off -- true');
		expect(input.words).toEqual(['off']);
		expect(await completeWords(['run'], '--isolate=', options)).toEqual({
			kind: 'words',
			candidates: ['auto', 'require', 'off', 'bwrap', 'systemd', 'cgroup'].map((word) => ({word: `--isolate=${word}`})),
		});
		expect(await completeWords(['run', '--isolate'], '--gp', options)).toMatchObject({
			candidates: [{word: '--gpus'}, {word: '--gpu-ids'}],
		});
	});
});
