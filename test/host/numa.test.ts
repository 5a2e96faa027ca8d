/** Binding a job to NUMA nodes, with the real taskset, a stub of numactl and a fake /sys. */
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {createBindToNodes} from '../../source/host/numa.js';
import {lookUpCommand} from '../../source/host/tool/command.js';

let directory: string;

/** Returns the processors that this process may use. In a container these are not all. */
const allowed = (): readonly string[] =>
	/^Cpus_allowed_list:\s*(?<list>\S+)$/mv
		.exec(readFileSync('/proc/self/status', 'utf8'))!
		.groups!['list']!.split(/[,\-]/v);

beforeAll(() => {
	directory = mkdtempSync('/tmp/canhazgpu-numa-');
	const write = (node: number, list: string): void => {
		mkdirSync(path.join(directory, `sys/devices/system/node/node${node}`), {recursive: true});
		writeFileSync(path.join(directory, `sys/devices/system/node/node${node}/cpulist`), `${list}\n`);
	};

	write(0, allowed()[0]!);
	write(1, allowed().at(-1)!);
	write(2, '');
	write(3, '4000-4095');
});

afterAll(() => {
	rmSync(directory, {recursive: true});
});

/** Creates a directory with the real taskset and a numactl made of these shell lines. */
function programs(name: string, numactl?: string): string {
	const bin = path.join(directory, name);
	mkdirSync(bin);
	const taskset = lookUpCommand('taskset', {PATH: '/usr/bin:/bin'});
	symlinkSync(taskset.kind === 'found' ? taskset.file : '', path.join(bin, 'taskset'));
	if (numactl !== undefined) {
		writeFileSync(path.join(bin, 'numactl'), `#!/bin/sh\n${numactl}\n`, {mode: 0o755});
	}

	return bin;
}

const bind = async (PATH: string, ...nodes: readonly number[]) =>
	createBindToNodes({root: directory, environment: {PATH}})(nodes);

test('taskset binds the job to the processors of its NUMA nodes if numactl is missing', async () => {
	const bin = programs('taskset-alone');
	for (const [nodes, processor] of [
		[[0], allowed()[0]],
		[[1], allowed().at(-1)],
	] as const) {
		const answer = await bind(bin, ...nodes);
		const [program, ...words] = answer.kind === 'bound' ? answer.entrance : [];
		const status = execFileSync(program!, [...words, 'grep', 'Cpus_allowed_list', '/proc/self/status'], {
			encoding: 'utf8',
		});
		expect(status).toBe(`Cpus_allowed_list:\t${processor}\n`);
	}

	const both = await bind(bin, 0, 1);
	expect(both).toMatchObject({
		kind: 'bound',
		entrance: [`${bin}/taskset`, '--cpu-list', `${allowed()[0]},${allowed().at(-1)}`],
	});
});

test('numactl binds the job to the processors and memory of its NUMA nodes', async () => {
	const bin = programs('numactl', 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
	expect(await bind(bin, 0, 1)).toEqual({
		kind: 'bound',
		entrance: [`${bin}/numactl`, '--cpunodebind=0,1', '--membind=0,1', '--'],
	});
	const forbidden = programs('forbidden', 'echo "set_mempolicy: Operation not permitted" >&2; exit 1');
	expect(await bind(forbidden, 0)).toMatchObject({
		kind: 'bound',
		entrance: [`${forbidden}/taskset`, '--cpu-list', allowed()[0]],
	});
});

test('binding to NUMA nodes reports the reason for a failure', async () => {
	const bin = programs('plain');
	expect(await bind('/nowhere', 0)).toEqual({kind: 'not-bound', problem: {kind: 'no-program'}});
	expect(await bind(bin, 0, 2)).toEqual({kind: 'not-bound', problem: {kind: 'no-processors', node: 2}});
	expect(await bind(bin, 7)).toEqual({kind: 'not-bound', problem: {kind: 'no-processors', node: 7}});
	expect(await bind(bin, 3)).toEqual({
		kind: 'not-bound',
		problem: {kind: 'refused', program: 'taskset', words: expect.stringContaining('failed to set') as string},
	});
});
