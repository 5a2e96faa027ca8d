/** The table of all hosts through real OpenSSH, with three servers on 127.0.0.1, a pool on each, and the cost of showing them. */
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {performance} from 'node:perf_hooks';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {startSshServers, type SshServers} from '../../_helpers/machine/ssh-server.js';
import {createEmbeddedBox, type Box} from '../../_helpers/program/cli.js';
import {isShown, keys, startTop} from '../../tui/program/_program.js';

let here: Box;
let boxes: Record<'near' | 'far' | 'third', Box>;
let servers: SshServers;
let environment: Record<string, string>;

beforeAll(async () => {
	here = await createEmbeddedBox(1);
	boxes = {near: await createEmbeddedBox(8), far: await createEmbeddedBox(8), third: await createEmbeddedBox(8)};
	servers = await startSshServers(path.join(here.home, 'ssh'), boxes);
	environment = {PATH: `${servers.directory}:${here.environment['PATH']!}`, CANHAZGPU_REMOTE_HOSTS: 'near,far,third'};
});

afterAll(async () => {
	await servers.stopAll();
	for (const box of [here, ...Object.values(boxes)]) {
		box.remove();
	}
});

type Usage = {readonly cpuSeconds: number; readonly names: readonly string[]};

/** Processor time of a process, its running children, and those it has waited for. */
function usageOf(pid: number): Usage {
	const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	// User and system time of the process and of its reaped children, in hundredths of a second.
	const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
	const children = readdirSync('/proc')
		.filter((name) => /^\d+$/v.test(name))
		.filter((name) => {
			try {
				const other = readFileSync(`/proc/${name}/stat`, 'utf8');
				return other.slice(other.lastIndexOf(')') + 2).split(' ', 2)[1] === String(pid);
			} catch {
				return false;
			}
		})
		.map((name) => usageOf(Number(name)));
	return {
		cpuSeconds: ticks / 100 + children.reduce((sum, {cpuSeconds}) => sum + cpuSeconds, 0),
		names: [stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')), ...children.flatMap(({names}) => names)],
	};
}

/** Connections that follow the status of this host. */
const connectionsTo = (host: string): readonly number[] =>
	readdirSync('/proc')
		.filter((name) => {
			try {
				const words = readFileSync(`/proc/${name}/cmdline`, 'utf8');
				return words.includes(servers.directory.replace(/bin$/v, '')) && words.includes(`\0${host}\0canhazgpu\0status`);
			} catch {
				return false;
			}
		})
		.map(Number);

/** Returns the share of one processor that a process uses over some time. */
async function shareOf(pid: number): Promise<number> {
	const seconds = 20;
	const before = usageOf(pid).cpuSeconds;
	await sleep(seconds * 1000);
	return (usageOf(pid).cpuSeconds - before) / seconds;
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} % of a processor`;

test('top shows changes on three hosts at once and reports a stopped host', async () => {
	const top = startTop(here, {environment, flags: ['--interval', '5s'], size: {columns: 120, rows: 40}});
	await top.waitFor(isShown(1));
	const alone = await shareOf(top.pid);
	top.write('H');
	await top.waitFor(/4 hosts +4 answering/v);
	await top.waitFor(/Free 25 .* of 25/v);
	// The cost of connecting is not part of the cost of staying connected.
	await sleep(5000);
	expect(usageOf(top.pid).names.filter((name) => name === 'ssh')).toHaveLength(3);
	const together = await shareOf(top.pid);
	process.stderr.write(`top alone: ${percent(alone)}, over three hosts by ssh: ${percent(together)}\n`);
	// The cost of the other hosts, independent of the machine's load.
	expect(together - alone).toBeLessThan(0.03);
	const changedAtMs = Date.now();
	await boxes.far.run('reserve -g 3 -d 1h');
	await top.waitFor(/Free 22 {2}Mine 3/v);
	process.stderr.write(`a change there is shown ${Date.now() - changedAtMs} ms after the command was typed\n`);
	await servers.stop('third');
	// Sessions survive their stopped server, so their connections are cut here.
	for (const pid of connectionsTo('third')) {
		process.kill(pid, 'SIGKILL');
	}

	await top.waitFor(/third +! .*\(values of \d+s ago\)/v);
	await top.waitFor(/third +0 Free\?/v);
	await top.waitFor(/Free 14 {2}Mine 3/v);
	top.write(keys.escape);
	await top.waitFor('1:GPUs');
	await expect.poll(() => usageOf(top.pid).names.filter((name) => name === 'ssh')).toEqual([]);
	top.write('q');
	expect(await top.exit).toMatchObject({exitCode: 0});
});

/** A host of eight GPUs that sends its status every five seconds, as the program does. */
const simulatedHost = (gpus: ReadonlyArray<Readonly<Record<string, unknown>>>): string =>
	`#!/bin/sh\nwhile :; do echo '${JSON.stringify({host: 'x', account: 'root', version: '0.1.0', gpus, waiting_count: 1})}'; sleep 5; done\n`;

const residentMiB = (pid: number): number =>
	Number(/^VmRSS:\s+(?<kibibytes>\d+)/mv.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!.groups!['kibibytes']) /
	1024;

test('top with fifty hosts of eight GPUs uses at most 150 MiB and reacts to keys at once', async () => {
	const bin = path.join(here.home, 'fifty');
	mkdirSync(bin);
	const gpus = Array.from({length: 8}, (_, index) => ({
		gpu_id: index,
		status: index % 2 === 0 ? 'AVAILABLE' : 'IN_USE',
		...(index % 2 === 1 && {user: 'bob', type: 'RUN', duration: '1h 0m 0s', lease_id: 'one'}),
		gpu_model: 'A100-SXM4-80GB',
		uuid: `GPU-${index}`,
		memory_used_mb: 4000 * index,
		memory_total_mb: 81_920,
		utilization: 12 * index,
		temperature: 40 + index,
		processes: [{pid: 100 + index, user: 'bob', command: 'python train.py --config large.yaml', memory_used_mb: 3000}],
	}));
	writeFileSync(path.join(bin, 'ssh'), simulatedHost(gpus), {mode: 0o755});
	const names = Array.from({length: 50}, (_, index) => `box${index + 1}`);
	const top = startTop(here, {
		environment: {PATH: `${bin}:${here.environment['PATH']!}`, CANHAZGPU_REMOTE_HOSTS: names.join(',')},
		flags: ['--interval', '5s'],
		size: {columns: 120, rows: 32},
	});
	await top.waitFor(isShown(1));
	const {pid} = top;
	const alone = await shareOf(pid);
	top.write('H');
	await top.waitFor(/51 hosts +51 answering/v);
	await top.waitFor(/Free 201 +Mine 0 +Others 200/v);
	const together = await shareOf(pid);
	const answerMs: number[] = [];
	for (let round = 0; round < 10; round++) {
		const [key, shown] = round % 2 === 0 ? ['\u{1B}[F', /> box50 +7/v] : ['\u{1B}[H', /> \S+ +0 .*Simulated/v];
		const typedMs = performance.now();
		top.write(key);
		await top.waitFor(shown);
		answerMs.push(performance.now() - typedMs);
	}

	const slowestMs = Math.max(...answerMs);
	const memoryMiB = residentMiB(pid);
	process.stderr.write(
		`fifty hosts: ${percent(together)} (alone ${percent(alone)}), ${memoryMiB.toFixed(0)} MiB, a key is answered within ${slowestMs.toFixed(0)} ms\n`,
	);
	expect(memoryMiB).toBeLessThan(150);
	top.write('q');
	expect(await top.exit).toMatchObject({exitCode: 0});
	await expect.poll(() => readdirSync('/proc').filter((name) => isStubOf(bin, name))).toEqual([]);
});

/** Whether a process is one of the simulated hosts. */
function isStubOf(bin: string, name: string): boolean {
	try {
		return /^\d+$/v.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(path.join(bin, 'ssh'));
	} catch {
		return false;
	}
}
