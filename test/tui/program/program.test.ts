/** The built program on a real terminal, as a user sees it. */
import {readdirSync} from 'node:fs';
import path from 'node:path';
import {DatabaseSync} from 'node:sqlite';
import {Redis} from 'ioredis';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {createBox, createEmbeddedBox, createRedisBox, type Box} from '../../_helpers/program/cli.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {firstCase} from '../../_helpers/slow.js';
import {isShown, keys, rowOf, startTop, statusOf} from './_program.js';

const redis = redisOfFile();

/** The pool that an unconfigured program would find, which tests must not use. */
async function hasOwnPool(): Promise<boolean> {
	const client = new Redis({lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null});
	client.on('error', () => undefined);
	try {
		await client.connect();
		return (await client.exists('canhazgpu:gpu_count')) > 0;
	} catch {
		return false;
	} finally {
		client.disconnect();
	}
}

test('top finishes a private pool whose creation was killed', async (context) => {
	context.skip(await hasOwnPool(), 'This machine has a GPU pool, and a first run would show that');
	const box = createBox();
	context.onTestFinished(() => {
		box.remove();
	});
	const first = startTop(box);
	await first.waitFor(isShown(8));
	first.write('q');
	await first.exit;
	const file = readdirSync(box.home, {recursive: true, encoding: 'utf8'}).find((name) => name.endsWith('pool.sqlite'))!;
	const database = new DatabaseSync(path.join(box.home, file));
	database.exec('DELETE FROM pool; DELETE FROM gpus');
	database.close();
	expect((await box.run('status')).stderr).toContain('There is no GPU pool');
	await startTop(box).waitFor(isShown(8));
});

test('the first start of top without a pool shows simulated GPUs, runs commands and leaves no trace', async (context) => {
	context.skip(await hasOwnPool(), 'This machine has a GPU pool, and a first run would show that');
	const box = createBox();
	context.onTestFinished(() => {
		box.remove();
	});
	const top = startTop(box, {shell: 'echo before; "$@"; echo "after $?"; stty -a'});
	const opened = await top.waitFor(isShown(8));
	expect(top.isAlternate()).toBe(true);
	expect(top.isCursorShown()).toBe(false);
	expect(opened[0]).toMatch(
		/^ canhazgpu top .* 8x\S*H100\S* {2}\[LIVE\] {2}SIMULATED {2}PRIVATE pool {2}scan \d+s ago /v,
	);
	expect(opened[1]).toMatch(/^ Free 8 {2}Mine 0 {2}Others 0 /v);
	// Short enough for the smallest screen.
	expect(opened.at(-2)).toBe(' WARN Created a private pool. To create one for everybody: sudo canhazgpu admin');

	const reserved = await box.run('reserve --gpus 2');
	expect(reserved.exitCode).toBe(0);
	const held = await top.waitFor('Free 6  Mine 2');
	expect([rowOf(held, 0), rowOf(held, 1), rowOf(held, 2)]).toEqual([
		expect.stringMatching(/ Mine .* MANUAL /v),
		expect.stringMatching(/ Mine .* MANUAL /v),
		expect.stringMatching(/ Free /v),
	]);
	expect((await box.run('release')).exitCode).toBe(0);
	await top.waitFor('Free 8  Mine 0');
	await top.waitFor((screen) => !screen.includes('Created a private pool'));

	top.write('q');
	expect(await top.exit).toEqual({exitCode: 0, signal: undefined});
	expect(top.isAlternate()).toBe(false);
	expect(top.isCursorShown()).toBe(true);
	expect(top.emulator.modes.bracketedPasteMode).toBe(false);
	expect(top.screen().slice(0, 2)).toEqual(['before', 'after 0']);
	// The terminal echoes and edits input again.
	expect(top.screen().join('\n')).toMatch(/ icanon [\s\S]* echo /v);

	// The private pool is no obstacle: the error names what prevents the shared one.
	expect(await box.run('admin')).toMatchObject({
		exitCode: 1,
		stderr: expect.stringMatching(
			/^Error: No GPUs were found here: .*\n.*: canhazgpu admin --gpus 8 --provider fake\n$/v,
		) as unknown,
	});
});

describe.each(
	firstCase([
		['redis', async () => createRedisBox(redis.port)],
		['embedded', async () => createEmbeddedBox()],
	]),
)('top with the %s store', (_, create) => {
	let box: Box;

	beforeAll(async () => {
		box = await create();
	});

	afterAll(() => {
		box.remove();
	});

	test('reserves, extends and releases GPUs by keys', async () => {
		const top = startTop(box);
		await top.waitFor(isShown(8));

		top.write('r');
		await top.waitFor('Reserve GPUs');
		top.write('3');
		await top.waitFor('$ canhazgpu reserve --gpus 3 --duration 8h');
		top.write(`${keys.tab}2h`);
		await top.waitFor('--duration 2h');
		top.write(`${keys.tab}eval, "70B"`);
		// The window shrinks in the middle of a form, and grows again.
		top.resize({columns: 70, rows: 18});
		await top.waitFor((screen) => screen.split('\n', 18)[17]?.includes('Enter Reserve') ?? false);
		await top.waitFor(/Note +eval, "70B"/v);
		top.resize({columns: 110, rows: 30});
		await top.waitFor('$ canhazgpu reserve --gpus 3 --duration 2h --note \'eval, "70B"\'');
		top.write(keys.enter);
		const reserved = await top.waitFor(' OK reserved GPUs 0-2 for ');
		expect(reserved.join('\n')).toContain('$ export CUDA_VISIBLE_DEVICES=0,1,2');
		await top.waitFor('Free 5  Mine 3');
		const held = await statusOf(box);
		expect(held.map(({status}) => status)).toEqual([
			...Array.from({length: 3}, () => 'IN_USE'),
			...Array.from({length: 5}, () => 'AVAILABLE'),
		]);
		expect(held[0]).toMatchObject({gpu_id: 0, type: 'MANUAL', note: 'eval, "70B"'});

		top.write('j');
		await top.waitFor('Detail GPU 1');
		top.write('e');
		await top.waitFor('Extend GPUs 0-2');
		top.write('90m');
		await top.waitFor('$ canhazgpu extend --gpu-ids 0,1,2 --duration 90m');
		top.write(keys.enter);
		await top.waitFor(' OK extended GPUs 0-2 by ');
		const extended = await statusOf(box);
		const endsOf = (rows: typeof held): readonly number[] =>
			rows.slice(0, 3).map(({expiry_time: end}) => Date.parse(String(end)) / 1000);
		expect(endsOf(extended)).toEqual(endsOf(held).map((end) => end + 90 * 60));

		top.write('x');
		await top.waitFor('Release GPU 1 now? y/N');
		top.write('n');
		await top.waitFor((screen) => !screen.includes('now? y/N'));
		expect((await statusOf(box))[1]).toMatchObject({status: 'IN_USE'});
		top.write('x');
		await top.waitFor('Release GPU 1 now? y/N');
		top.write('y');
		await top.waitFor(' OK released GPU 1');
		await top.waitFor('Free 6  Mine 2');
		const left = await statusOf(box);
		expect(left.map(({status}) => status === 'IN_USE')).toEqual([
			true,
			false,
			true,
			...Array.from({length: 5}, () => false),
		]);
		top.write('q');
		expect(await top.exit).toMatchObject({exitCode: 0});
	});
});
