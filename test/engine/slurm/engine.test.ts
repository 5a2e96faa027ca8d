/** What becomes of a request while Slurm's commands run: a salloc of our own says what the real one would. */
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterEach, beforeEach, expect, test} from 'vitest';
import type {Clock} from '../../../source/core/model/ports.js';
import type {Progress, Submission} from '../../../source/core/operations/engine.js';
import type {AcquireRequest} from '../../../source/core/rules/request/request.js';
import {CanhazgpuError} from '../../../source/errors.js';
import type {SlurmJob} from '../../../source/engine/slurm/answers/jobs.js';
import type {Cluster} from '../../../source/engine/slurm/cluster.js';
import {createSlurmEngine} from '../../../source/engine/slurm/engine.js';
import type {ClusterState} from '../../../source/engine/slurm/snapshot.js';
import {submission} from '../../../source/engine/slurm/submission.js';

const realPath = process.env['PATH'];
let directory: string;

beforeEach(() => {
	directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-salloc-'));
	process.env['PATH'] = `${directory}:${realPath}`;
});

afterEach(() => {
	process.env['PATH'] = realPath;
	rmSync(directory, {recursive: true, force: true});
});

/** Time passes a hundred times faster. */
const clock: Clock = {
	monotonicMs: () => performance.now(),
	async sleep(ms, signal) {
		await sleep(ms / 100, undefined, {signal});
	},
	random: () => 0.5,
	uuid: () => 'id',
};

const request: AcquireRequest = {
	requester: {account: 'ann', uid: 1000, label: 'ann'},
	count: 1,
	tenure: {type: 'manual', durationSeconds: 3600},
};

const job = (given: Partial<SlurmJob>): SlurmJob => ({
	id: 7,
	user: 'ann',
	name: 'reserve',
	comment: '',
	state: 'pending',
	stateWord: 'PENDING',
	reason: 'Resources',
	isBatch: false,
	command: '',
	priority: 1,
	submitTime: 1000,
	held: [],
	gpus: {type: undefined, count: 1},
	...given,
});

const stateOf = (...jobs: readonly SlurmJob[]): ClusterState => ({
	nodes: [{name: 'box1', gpus: [{type: undefined, count: 4}], usedGpus: 0, shards: 0, usedShards: 0}],
	jobs,
	now: 2000,
	readAtMs: 0,
});

const unreachable = (): CanhazgpuError => new CanhazgpuError('store-unreachable', "Slurm's controller does not answer");

/** Gives these answers to one reading after another, and the last from then on. */
function clusterThatSays(...answers: ReadonlyArray<ClusterState | Error>): Cluster {
	const rest = [...answers];
	const cluster = {
		async read() {
			const answer = rest.length > 1 ? rest.shift()! : rest[0]!;
			if (answer instanceof Error) {
				throw answer;
			}

			return answer;
		},
		until: () => cluster,
	} as unknown as Cluster;
	return cluster;
}

/** It waits until the file is there, and has the job then. */
function placeSalloc(): () => void {
	const file = path.join(directory, 'granted');
	writeFileSync(
		path.join(directory, 'salloc'),
		`#!/bin/sh
echo "salloc: Pending job allocation 7" >&2
while [ ! -e '${file}' ]; do sleep 0.01; done
echo "salloc: Granted job allocation 7" >&2
`,
		{mode: 0o755},
	);
	return () => {
		writeFileSync(file, '');
	};
}

const held = job({
	state: 'holding',
	stateWord: 'RUNNING',
	startTime: 1500,
	held: [{node: 'box1', gpus: [2], unnamed: 0, shards: new Map()}],
});

test('how the waiting goes is said again after the controller was away for a while', async () => {
	const grant = placeSalloc();
	const said: Progress[] = [];
	const cluster = clusterThatSays(unreachable(), unreachable(), stateOf(job({})), stateOf(held));
	const granted = await createSlurmEngine(cluster, clock, undefined).acquire(request, {
		waitSeconds: undefined,
		signal: new AbortController().signal,
		onProgress(progress) {
			said.push(progress);
			grant();
		},
	});
	expect(said).toMatchObject([{kind: 'waiting', position: 1, waiting: 1}]);
	expect(granted).toMatchObject({kind: 'granted', leaseId: '7', gpus: [2]});
}, 10_000);

test('which GPUs were granted is asked again where the controller is away just then', async () => {
	placeSalloc()();
	const cluster = clusterThatSays(unreachable(), unreachable(), unreachable(), stateOf(), stateOf(held));
	await expect(createSlurmEngine(cluster, clock, undefined).acquireNow(request)).resolves.toMatchObject({
		kind: 'granted',
		gpus: [2],
	});
});

const asked: Submission = {
	request: {...request, tenure: {type: 'run'}},
	words: ['sh', '-c', 'exit 244'],
	waitSeconds: undefined,
	later: {},
	isHeld: false,
	isQuiet: false,
	hasTerminal: false,
	environment: {},
};

test('a command that exits with what srun says of GPUs that are not free has run all the same', async () => {
	const run = async () => 'StepId=7.0 UserId=1000 SrunHost:Pid=box1:321 ';
	const cluster = clusterThatSays(stateOf(held));
	Object.assign(cluster, {run});
	const {granted, exitCodeOf} = submission(cluster, clock, {...asked, waitSeconds: 60}, {name: 'gpu', count: 1});
	await granted(321, new AbortController().signal);
	await expect(exitCodeOf(244)).resolves.toBe(244);
	// Without a limit to the wait srun never says so.
	await expect(submission(cluster, clock, asked, {name: 'gpu', count: 1}).exitCodeOf(244)).resolves.toBe(244);
	await expect(
		submission(cluster, clock, {...asked, waitSeconds: 0}, {name: 'gpu', count: 1}).exitCodeOf(244),
	).rejects.toThrow(expect.objectContaining({code: 'unavailable'}));
});
