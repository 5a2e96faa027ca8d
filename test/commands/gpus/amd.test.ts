/** A machine whose amd-smi numbers the GPUs differently from HIP. */
import {expect, onTestFinished, test} from 'vitest';
import {createRedisBox} from '../../_helpers/program/cli.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {stubTool} from '../../_helpers/machine/stub-tool.js';

const redis = redisOfFile();

const entries = (of: (gpu: number) => Readonly<Record<string, unknown>>) =>
	`echo '${JSON.stringify([0, 1, 2].map((gpu) => ({gpu, ...of(gpu)})))}'`;

/** An amd-smi with three GPUs, of which the second is in use. The third is the first one in HIP's order. */
const tool = `case "$1" in
metric) ${entries((gpu) => ({mem_usage: {used_vram: {value: gpu === 1 ? 40_000 : 283, unit: 'MB'}}}))};;
process) ${entries(() => ({process_list: [{process_info: 'No running processes detected'}]}))};;
list) ${entries((gpu) => ({uuid: `uuid-${gpu}`, node_id: [4, 3, 2][gpu]}))};;
*) echo '[]';;
esac`;

test('run on AMD GPUs sets HIP indexes and unsets ROCR_VISIBLE_DEVICES and GPU_DEVICE_ORDINAL', async () => {
	const box = await createRedisBox(redis.port);
	onTestFinished(box.remove);
	const environment = {PATH: stubTool(box, 'amd-smi', tool).searchPath};
	expect(await box.run('admin --provider amd --force', environment)).toMatchObject({exitCode: 0});
	const {stdout} = await box.run('status --json', environment);
	const rows = JSON.parse(stdout) as ReadonlyArray<{readonly status: string; readonly uuid: string}>;
	expect(rows.map(({status, uuid}) => [status, uuid])).toEqual([
		['AVAILABLE', 'uuid-2'],
		['UNRESERVED', 'uuid-1'],
		['AVAILABLE', 'uuid-0'],
	]);
	const job = 'echo "$HIP_VISIBLE_DEVICES $CUDA_VISIBLE_DEVICES [$ROCR_VISIBLE_DEVICES$GPU_DEVICE_ORDINAL]"';
	const ran = await box.run(['run', '--gpus', '2', '--', 'sh', '-c', job], {
		...environment,
		HIP_VISIBLE_DEVICES: '7',
		ROCR_VISIBLE_DEVICES: '1',
		GPU_DEVICE_ORDINAL: '1',
	});
	expect(ran).toEqual({exitCode: 0, stderr: '', stdout: '0,2 0,2 []\n'});
});
