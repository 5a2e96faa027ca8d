/** Runs the container commands of the help with programs that print their arguments. */
import {chmodSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {freshEmbeddedBox} from '../../../_helpers/program/processes.js';
import {shellWords} from '../../../../source/format/text/shell.js';

const topic = readFileSync(new URL('../../../../source/help/isolation.md', import.meta.url), 'utf8');

const given: Readonly<Record<string, readonly string[]>> = {
	docker: ['run', '--rm', '--gpus', '"device=1,2"', 'IMAGE', 'python', 'train.py'],
	podman: ['run', '--rm', '--device', 'nvidia.com/gpu=1,nvidia.com/gpu=2', 'IMAGE', 'python', 'train.py'],
	enroot: ['start', '--env', 'NVIDIA_VISIBLE_DEVICES', 'IMAGE', 'python', 'train.py'],
	apptainer: ['exec', '--nv', 'IMAGE.sif', 'python', 'train.py'],
};

test('the documented docker, podman, enroot and apptainer commands pass the granted GPUs to the container', async () => {
	const box = await freshEmbeddedBox(4);
	const bin = path.join(box.home, 'bin');
	mkdirSync(bin);
	for (const name of Object.keys(given)) {
		writeFileSync(
			path.join(bin, name),
			'#!/bin/sh\nprintf "%s\\n" "$@" "$NVIDIA_VISIBLE_DEVICES" "$CUDA_VISIBLE_DEVICES"\n',
		);
		chmodSync(path.join(bin, name), 0o755);
	}

	const lines = topic.match(/^canhazgpu run .*(?:docker|podman|enroot|apptainer) .*$/gmv)!;
	expect(lines.length).toBe(4);
	for (const line of lines) {
		const name = /docker|podman|enroot|apptainer/v.exec(line)![0];
		const words = shellWords(line.replace('canhazgpu ', '').replace('--gpus 2 ', '--gpu-ids 1,2 ')).map(String);
		const {stdout} = await box.run(words, {PATH: `${bin}:${box.environment['PATH']!}`});
		expect([name, stdout.split('\n')]).toEqual([name, [...given[name]!, '1,2', '1,2', '']]);
	}
});
