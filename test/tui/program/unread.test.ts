/** A monitor that waits for GPUs while nobody reads its terminal. */
import {readFileSync} from 'node:fs';
import {describe, expect, onTestFinished, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import type {Terminal} from '../../_helpers/machine/terminal.js';
import {createEmbeddedBox, createRedisBox} from '../../_helpers/program/cli.js';
import {start} from '../../_helpers/program/processes.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {firstCase} from '../../_helpers/slow.js';
import {isShown, keys, startTop, statusOf} from './_program.js';

const redis = redisOfFile();

const size = {columns: 240, rows: 60};

/** Bytes that a terminal buffers before a writer blocks. Linux buffers 64 KiB. */
const roomBytes = 60_000;

/** Returns how many bytes the process has written to any file. */
const writtenBytes = (pid: number): number =>
	Number(/^wchar: (?<bytes>\d+)$/mv.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))!.groups!['bytes']);

/** Stops reading the terminal, and draws frames until it accepts no more. */
async function fill(top: Terminal): Promise<void> {
	top.pause();
	const before = writtenBytes(top.pid);
	let {columns} = size;
	await eventually(() => {
		columns = columns === size.columns ? size.columns - 1 : size.columns;
		top.resize({...size, columns});
		return writtenBytes(top.pid) - before > roomBytes;
	});
}

describe.each(
	firstCase([
		['redis', async () => createRedisBox(redis.port, 8)],
		['embedded', async () => createEmbeddedBox(8)],
	]),
)('top with the %s store, on a terminal whose output nobody reads,', (_, create) => {
	test('gets its GPUs in queue order and blocks no other request', async () => {
		const box = await create();
		onTestFinished(box.remove);
		expect(await box.run('reserve --gpus 8')).toMatchObject({exitCode: 0});
		const top = startTop(box, {size, flags: ['--interval', '0.5s']});
		await top.waitFor(isShown(8));
		top.write('w');
		await top.waitFor('Wait for GPUs');
		top.write(`4${keys.enter}`);
		await top.waitFor('Waiting for 4 GPUs');
		const behind = start(box, 'reserve --gpus 2 --wait 10m --short');
		await behind.says(/position 2/v);

		await fill(top);
		const mark = top.mark();
		expect(await box.run('release')).toMatchObject({exitCode: 0});
		expect(await behind.ended).toMatchObject({exitCode: 0});
		await eventually(async () => (await statusOf(box)).filter(({status}) => status === 'IN_USE').length === 6);
		expect(top.mark()).toBe(mark);

		top.resume();
		await top.waitFor('Mine 6');
	});
});
