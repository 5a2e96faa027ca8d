/** `run --numa bind` with simulated GPUs, a fake /sys and the real taskset. */
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {freshEmbeddedBox} from '../../../_helpers/program/processes.js';

test('run --numa bind binds the job to the CPUs near its GPUs or prints why this is impossible', async () => {
	const box = await freshEmbeddedBox(3);
	const [processor] = /^Cpus_allowed_list:\s*(?<first>\d+)/mv.exec(readFileSync('/proc/self/status', 'utf8'))!.slice(1);
	const node = path.join(box.home, 'sys/devices/system/node/node4');
	mkdirSync(node, {recursive: true});
	writeFileSync(path.join(node, 'cpulist'), `${processor}\n`);
	const scenario = path.join(box.home, 'scenario.yaml');
	const hardware = '[{gpus: [0], model: A, numa: 4}, {gpus: [1], model: A, numa: 5}]';
	writeFileSync(scenario, `devices: ${box.home}\nhardware: ${hardware}\n`, {mode: 0o600});
	// A PATH without numactl, which would need a real node 4.
	const environment = {CANHAZGPU_SIMULATED_SCENARIO: scenario, PATH: '/usr/bin:/bin', CANHAZGPU_RUN_NUMA: 'bind'};
	const run = async (gpus: string) =>
		box.run(['run', '--json', '--gpu-ids', gpus, '--', 'grep', 'Cpus_allowed_list', '/proc/self/status'], environment);
	const bound = await run('0');
	expect(bound).toMatchObject({exitCode: 0, stdout: `Cpus_allowed_list:\t${processor}\n`});
	expect(JSON.parse(bound.stderr)).toMatchObject({gpu_ids: [0], numa_nodes: [4]});
	const [granted, line] = (await run('0,1')).stderr.split('\n', 2);
	expect(JSON.parse(granted!)).not.toHaveProperty('numa_nodes');
	expect(line).toBe('canhazgpu: NOT bound to NUMA nodes: NUMA node 5 has no CPUs here');
	expect((await box.run('run --numa bind --gpu-ids 2 -- true', environment)).stderr).toContain(
		'NOT bound to NUMA nodes: the NUMA node of GPU 2 is unknown here\n',
	);
	expect(await box.run('run --numa both -- true', environment)).toEqual({
		exitCode: 2,
		stdout: '',
		stderr: 'Error: --numa must be bind or off, not "both"\n',
	});
});
