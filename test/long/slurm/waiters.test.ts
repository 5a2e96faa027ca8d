import {readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {nodes} from '../../_helpers/machine/slurm-cluster.js';
import {start} from '../../_helpers/program/processes.js';
import {clusterOfFile, type Row} from './_cluster.js';

const {slurm, box} = clusterOfFile({scheduler: 'builtin'});

const waiterCount = 50;

test('fifty waiting requests on Slurm are served in the order that queue shows', async () => {
	for (const node of nodes) {
		slurm().run('salloc', '--no-shell', '--gres=gpu:4', `--nodelist=${node}`);
	}

	const waiting = (): readonly number[] =>
		slurm()
			.run('squeue', '--noheader', '--states=PENDING', '--sort=-p,i', '--format=%i')
			.split('\n')
			.filter((line) => line !== '')
			.map(Number);
	const order = path.join(box().home, 'order');
	const waiters: Array<ReturnType<typeof start>> = [];
	for (let index = 0; index < waiterCount; index++) {
		waiters.push(
			start(box(), ['run', '--gpus', '4', '--', 'sh', '-c', `echo ${index} $SLURM_JOB_ID >> ${order}; sleep 0.1`]),
		);
		await eventually(() => waiting().length === index + 1);
	}

	const bySlurm = waiting();
	const {entries} = JSON.parse((await box().run('queue --json')).stdout) as {readonly entries: readonly Row[]};
	expect(entries.map(({id}) => Number(id))).toEqual(bySlurm);
	expect(entries.map(({position}) => position)).toEqual(bySlurm.map((_, index) => index + 1));
	slurm().run('scancel', '--state=RUNNING', '--user=root');
	const ends = await Promise.all(waiters.map(async ({ended}) => ended));
	expect(ends.map(({exitCode}) => exitCode)).toEqual(waiters.map(() => 0));
	const started = slurm()
		.run('scontrol', 'show', 'job', '--oneliner')
		.split('\n')
		.flatMap((line) => {
			const {id, at} = /^JobId=(?<id>\d+) .* StartTime=(?<at>\S+)/v.exec(line)?.groups ?? {};
			return id !== undefined && bySlurm.includes(Number(id)) ? [{id: Number(id), at: at!}] : [];
		});
	const times = bySlurm.map((id) => started.find((job) => job.id === id)!.at);
	expect(times).toEqual(times.toSorted());
	const begun = readFileSync(order, 'utf8')
		.trim()
		.split('\n')
		.map((line) => line.split(' ').map(Number) as [index: number, jobId: number]);
	// Requests are served in their order of arrival, once each.
	expect(begun.map(([index]) => index).toSorted((a, b) => a - b)).toEqual(waiters.map((_, index) => index));
	for (const [index, jobId] of begun) {
		expect(jobId).toBe(bySlurm[index]);
	}

	// At most as many earlier requests as the other nodes have GPUs can still be starting.
	for (const [place, [index]] of begun.entries()) {
		expect(place).toBeGreaterThanOrEqual(index - (nodes.length - 1));
	}
});
