/** The cost of the table of all hosts: three boxes through real OpenSSH, shown for a minute, and fifty through a stub ssh. */
import {execFileSync} from 'node:child_process';
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {open} from 'node:fs/promises';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {startSshServers} from '../_helpers/machine/ssh-server.js';
import {createEmbeddedBox} from '../_helpers/program/cli.js';
import {median, report, printFigure, reportTime} from './_helpers/measure.js';
import {cpuSeconds, openMonitor, residentMiB, shownAt, type Monitor} from './_helpers/monitor.js';

const gpuCount = 8;
const aloneSeconds = 30;
const viewSeconds = 60;

/** Processor time in seconds of all running child processes of this one. */
function childrenSeconds({pid}: Pick<Monitor, 'pid'>): number {
	return readdirSync('/proc')
		.filter((name) => /^\d+$/v.test(name))
		.map((name) => {
			try {
				const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
				const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
				return Number(fields[1]) === pid ? cpuSeconds({pid: Number(name)}) : 0;
			} catch {
				return 0;
			}
		})
		.reduce((sum, seconds) => sum + seconds, 0);
}

type Cost = {readonly own: number; readonly connections: number};

/** Measures the use of one core in percent, over this many seconds. */
async function costOf(monitor: Monitor, seconds: number): Promise<Cost> {
	const before = [cpuSeconds(monitor), childrenSeconds(monitor)] as const;
	await sleep(seconds * 1000);
	return {
		own: ((cpuSeconds(monitor) - before[0]) / seconds) * 100,
		connections: ((childrenSeconds(monitor) - before[1]) / seconds) * 100,
	};
}

const here = await createEmbeddedBox(1);

/** Three boxes, each with four of eight GPUs reserved and busy. */
async function threeBoxes(): Promise<void> {
	const boxes = {
		near: await createEmbeddedBox(gpuCount),
		far: await createEmbeddedBox(gpuCount),
		third: await createEmbeddedBox(gpuCount),
	};
	for (const box of Object.values(boxes)) {
		await box.run('reserve -g 4 -d 8h');
	}

	const servers = await startSshServers(path.join(here.home, 'ssh'), boxes);
	const monitor = openMonitor(here, {
		PATH: `${servers.directory}:${here.environment['PATH']!}`,
		CANHAZGPU_REMOTE_HOSTS: Object.keys(boxes).join(','),
	});
	await monitor.waitFor('Free 1');
	await sleep(3000);
	const alone = await costOf(monitor, aloneSeconds);
	monitor.write('H');
	await monitor.waitFor(/4 hosts +4 answering/v, 60_000);
	await monitor.waitFor(/Free 13 .* of 25/v);
	// The cost of connecting is not part of the cost of staying connected.
	await sleep(5000);
	const mark = monitor.mark();
	const together = await costOf(monitor, viewSeconds);
	printFigure('top of this host alone', alone.own, '% of one core');
	printFigure(
		'top over three boxes by ssh, with its connections',
		together.own + together.connections,
		'% of one core',
	);
	printFigure('of which the connections', together.connections, '% of one core');
	printFigure('written', new TextEncoder().encode(monitor.rawSince(mark)).length / viewSeconds, 'bytes a second');
	printFigure('RSS', residentMiB(monitor), 'MiB');
	report('what three boxes add to it', together.own + together.connections - alone.own, {
		limit: 1.5,
		unit: '% of one core',
	});
	monitor.write('q');
	await monitor.exit;
	await servers.stopAll();
	for (const box of Object.values(boxes)) {
		box.remove();
	}
}

type Gpu = Readonly<Record<string, unknown>>;

const statusLine = (gpus: readonly Gpu[]): string =>
	`${JSON.stringify({host: 'x', account: 'root', version: '0.1.0', gpus, waiting_count: 0})}\n`;

const freeGpu = (index: number): Gpu => ({
	gpu_id: index,
	status: 'AVAILABLE',
	gpu_model: 'A100-SXM4-80GB',
	uuid: `GPU-${index}`,
	memory_used_mb: 4,
	memory_total_mb: 81_920,
	utilization: 0,
	temperature: 40,
	processes: [],
});

const heldGpu = (index: number): Gpu => ({
	...freeGpu(index),
	status: 'IN_USE',
	user: 'bob',
	type: 'RUN',
	duration: '1h 0m 0s',
	lease_id: 'one',
	memory_used_mb: 9000 * index,
	utilization: 12 * index,
	processes: [{pid: 100 + index, user: 'bob', command: 'python train.py --config large.yaml', memory_used_mb: 3000}],
});

/** Eight GPUs, of which the first ones are held. */
const gpusOf = (heldCount: number): readonly Gpu[] =>
	Array.from({length: gpuCount}, (_, index) => (index < heldCount ? heldGpu(index) : freeGpu(index)));

/** Fifty hosts. This process plays the last one, and the others send their status every five seconds, as the program does. */
async function fiftyHosts(): Promise<void> {
	const bin = path.join(here.home, 'fifty');
	mkdirSync(bin);
	execFileSync('mkfifo', [path.join(bin, 'last')]);
	writeFileSync(path.join(bin, 'line'), statusLine(gpusOf(4)));
	writeFileSync(
		path.join(bin, 'ssh'),
		`#!/bin/sh\ncase "$*" in *' box50 '*) exec cat '${bin}/last';; esac\nwhile :; do cat '${bin}/line'; sleep 5; done\n`,
		{mode: 0o755},
	);
	const monitor = openMonitor(here, {
		PATH: `${bin}:${here.environment['PATH']!}`,
		CANHAZGPU_REMOTE_HOSTS: Array.from({length: 50}, (_, index) => `box${index + 1}`).join(','),
	});
	await monitor.waitFor('Free 1');
	await sleep(3000);
	const alone = await costOf(monitor, aloneSeconds);
	monitor.write('H');
	await monitor.waitFor(/50 answering +1 asked/v, 60_000);
	const last = await open(path.join(bin, 'last'), 'w');
	await sleep(2000);
	const latencies: number[] = [];
	for (let round = 0; round < 30; round++) {
		// A random pause, so that the rounds are not synchronized with the monitor's timers.
		await sleep(500 + 300 * Math.random());
		const heldCount = 4 + (round % 2);
		const shown = shownAt(monitor, new RegExp(String.raw`51 answering[\s\S]*Free ${201 - (round % 2)} `, 'v'));
		const sentAt = performance.now();
		await last.write(statusLine(gpusOf(heldCount)));
		latencies.push((await shown) - sentAt);
	}

	await sleep(3000);
	const together = await costOf(monitor, aloneSeconds);
	printFigure('fifty hosts: the first answer of the last of them to its frame', latencies[0]!, 'ms');
	reportTime('fifty hosts: a change on one of them to its frame, median', median(latencies.slice(1)), 3);
	printFigure('fifty hosts: top alone', alone.own, '% of one core');
	printFigure('fifty hosts: top over them, each of which tells something every 5 s', together.own, '% of one core');
	report('fifty hosts: RSS', residentMiB(monitor), {limit: 150, unit: 'MiB'});
	monitor.write('q');
	await monitor.exit;
	await last.close();
}

await threeBoxes();
await fiftyHosts();
here.remove();
