import {execFileSync} from 'node:child_process';
import {chmod, readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import * as fc from 'fast-check';
import {expect, onTestFinished, test, vi} from 'vitest';
import type {GpuProvider} from '../../../source/core/model/ports.js';
import {createNvidiaProvider} from '../../../source/gpu/nvidia/nvidia.js';
import {createLiveSources, tableReader} from '../../../source/gpu/nvidia/live.js';
import type {GpuTable} from '../../../source/gpu/nvidia/gpus.js';
import {runTool} from '../../../source/host/tool/spawn.js';
import {eventually} from '../../_helpers/eventually.js';
import {fixture} from '../fixture.js';
import {describeProcesses, monotonicMs} from './set-up.js';
import {createStub} from './stub-nvidia-smi.js';

const two = fixture('gpus/two.csv').trimEnd();
const [header = '', first = '', second = ''] = two.split('\n', 3);
const uuid = first.split(', ', 2)[1] ?? '';

/** Reads the text in chunks of this size. */
const readAll = (text: string, size: number, pieceLength = text.length) => {
	const blocks: GpuTable[] = [];
	let isGarbage = false;
	const read = tableReader(() => size)({
		block(block) {
			blocks.push(block);
		},
		garbage() {
			isGarbage = true;
		},
	});
	for (let at = 0; at < text.length; at += Math.max(1, pieceLength)) {
		read(text.slice(at, at + Math.max(1, pieceLength)));
	}

	return {blocks, isGarbage};
};

test('the stream reader returns each table of nvidia-smi, however the stream is cut into chunks', () => {
	fc.assert(
		fc.property(fc.nat(200), fc.constantFrom('\n', '\r\n'), (pieceLength, end) => {
			const text = `${[header, first, second, first, second, '', first].join(end)}${end}`;
			const {blocks, isGarbage} = readAll(text, 2, pieceLength);
			expect(isGarbage).toBe(false);
			expect(blocks.map(({gpus}) => gpus.map(({index}) => index))).toEqual([
				[0, 1],
				[0, 1],
			]);
		}),
	);
});

test.each([
	['the same GPU twice', [header, first, first]],
	['a broken GPU', [header, first, 'Unable to determine the device handle for GPU0000:04:00.0: Unknown Error']],
	['nothing but errors', [header, '[Unknown Error], [Unknown Error]', '[Unknown Error], [Unknown Error]']],
	['no header', ['No devices were found', 'x', 'y']],
])('the stream reader rejects a table with %s', (_what, lines) => {
	expect(readAll(`${lines.join('\n')}\n`, 2)).toMatchObject({isGarbage: true, blocks: []});
});

test('the stream reader rejects an endless line', () => {
	expect(readAll('x'.repeat(2_000_000), 2, 100_000)).toMatchObject({isGarbage: true, blocks: []});
});

test('the stream reader accepts any text', () => {
	const piece = fc.oneof(fc.constantFrom(header, first, second, '\n', '\r\n', ', '), fc.string());
	fc.assert(
		fc.property(fc.array(piece), fc.nat(4), fc.nat(30), (pieces, size, length) => {
			for (const {gpus} of readAll(pieces.join(''), size, length).blocks) {
				expect(gpus).toHaveLength(size);
			}
		}),
		{numRuns: 1000},
	);
});

/** Creates a stub that runs the shell lines `loop` when called with -l, and a provider that scans repeatedly. */
const setUp = async (loop: string, {timeoutMs = 3000} = {}) => {
	const stub = await createStub({gpus: {stdout: `${two}\n`}, processes: {stdout: fixture('processes/none.csv')}});
	const script = await readFile(stub.command, 'utf8');
	const looping = `case "$*" in *' -l '*)\necho "pid $$" >> '${stub.directory}/calls'\n${loop}\nexit 0;; esac`;
	const lines = script.split('\n');
	await writeFile(stub.command, [...lines.slice(0, 2), looping, ...lines.slice(2)].join('\n'));
	await chmod(stub.command, 0o755);
	const provider: GpuProvider = createNvidiaProvider({
		run: runTool,
		describeProcesses,
		monotonicMs,
		timeLimitMs: () => timeoutMs,
		command: stub.command,
		gpusDirectory: path.join(stub.directory, 'none'),
		createSources: createLiveSources({
			// Keeps this machine's kernel log out of the test.
			run: async (command, ...rest) =>
				command === stub.command ? runTool(command, ...rest) : {stdout: '', stderr: '', failure: 'not-found'},
			monotonicMs,
			timeLimitMs: () => timeoutMs,
			intervalMs: 1000,
			uptimeSeconds: () => 0,
		}),
	});
	onTestFinished(async () => provider.close?.());
	const count = async (pattern: RegExp) => (await stub.calls()).filter((call) => pattern.test(call)).length;
	return {
		provider,
		single: async () => count(/--query-gpu=\S+ --format=csv,nounits$/v),
		loops: async () => count(/ -l 1$/v),
		isRunning: async () =>
			(await stub.calls())
				.filter((call) => call.startsWith('pid '))
				.some((call) => {
					try {
						execFileSync('kill', ['-0', call.slice(4)], {stdio: 'ignore'});
						return true;
					} catch {
						return false;
					}
				}),
	};
};

const table = (used: string) =>
	String.raw`printf '%s\n' '${[header, first, second].join("' '")}' | sed 's/ 81559, 4,/ 81559, ${used},/'`;
const rows = `n=100; while :; do n=$((n + 1)); ${table('$n').replaceAll("'s/", '"s/').replaceAll("/'", '/"')} | tail -n 2; sleep 0.2; done`;

test('one run of nvidia-smi serves many scans', async () => {
	const {provider, single, loops, isRunning} = await setUp(`echo '${header}'; ${rows}`);
	const used: Array<number | undefined> = [];
	for (let round = 0; round < 6; round++) {
		const {gpus, failure, takenAtMs} = await provider.observe();
		expect(failure).toBeUndefined();
		expect(monotonicMs() - takenAtMs).toBeLessThan(4000);
		expect(gpus).toMatchObject([{index: 0, uuid, processes: []}, {index: 1}]);
		used.push(gpus[0]?.memoryUsedMiB);
	}

	expect(used[0]).toBe(4);
	expect(used.slice(1).every((value) => (value ?? 0) > 100)).toBe(true);
	expect([await single(), await loops()]).toEqual([1, 1]);
	await provider.close?.();
	await eventually(async () => !(await isRunning()));
});

test.each([
	['ends', `${table('5')}; exit 9`],
	['becomes invalid', `echo '${header}'; echo garbage; echo garbage; sleep 600`],
	['loses a GPU', `echo '${header}'; echo '${first}'; echo '${first}'; sleep 600`],
])('scans fall back to single runs of nvidia-smi if the stream %s', async (_what, loop) => {
	const {provider, single, loops, isRunning} = await setUp(loop);
	const seen: Array<Awaited<ReturnType<typeof provider.observe>>> = [];
	// On a busy machine the end of the stream is noticed late.
	await eventually(async () => {
		seen.push(await provider.observe());
		return (await single()) >= 2;
	});
	for (const observation of seen) {
		expect(observation).toMatchObject({gpus: [{index: 0}, {index: 1}]});
	}

	expect(await loops()).toBe(1);
	await eventually(async () => !(await isRunning()));
});

test('scans give up on a silent nvidia-smi stream', async () => {
	const {provider, single, isRunning} = await setUp("trap '' TERM; while :; do sleep 1; done");
	await provider.observe();
	expect(await provider.observe()).toMatchObject({gpus: [{index: 0}, {index: 1}]});
	expect(await single()).toBe(2);
	await eventually(async () => !(await isRunning()));
});

test('nvidia-smi is not started again while its stream cannot be killed', async () => {
	const {promise: ended, resolve: release} = Promise.withResolvers<void>();
	let now = 0;
	const run = vi.fn<typeof runTool>(async (_command, args, {onText, signal}) => {
		if (onText !== undefined) {
			await new Promise((resolve) => {
				signal?.addEventListener('abort', resolve);
				queueMicrotask(() => {
					onText(`${header}\ngarbage\ngarbage\n`);
				});
			});
			return {stdout: '', stderr: '', failure: 'aborted', ended};
		}

		const text = args[0]?.startsWith('--query-gpu') ? `${two}\n` : fixture('processes/none.csv');
		return {stdout: text, stderr: '', exitCode: 0};
	});
	const provider = createNvidiaProvider({
		run,
		describeProcesses,
		monotonicMs: () => now,
		createSources: createLiveSources({
			run,
			monotonicMs: () => now,
			timeLimitMs: () => 1000,
			intervalMs: 1000,
			uptimeSeconds: () => 0,
		}),
	});
	expect((await provider.observe()).failure).toBeUndefined();
	expect((await provider.observe()).failure?.message).toContain('cannot be ended');
	const calls = run.mock.calls.length;
	now = 30_000;
	expect((await provider.observe()).failure?.message).toContain('has hung for 30 s');
	expect(run.mock.calls).toHaveLength(calls);
	release();
	await ended;
	expect((await provider.observe()).failure).toBeUndefined();
});
