/** Requests while Slurm commands run. A stub salloc prints what the real one would. */
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterEach, beforeEach, expect, onTestFinished, test} from 'vitest';
import {awaitEngineJobs} from '../../../source/commands/jobs/wait.js';
import type {Clock} from '../../../source/core/model/ports.js';
import type {EngineWorld, Progress, Submission} from '../../../source/core/operations/engine.js';
import {leaveQueueWhileEmpty} from '../../../source/core/operations/waiting/leave-queue.js';
import type {TimedRequest} from '../../../source/core/rules/request/request.js';
import {CanhazgpuError} from '../../../source/errors.js';
import type {SlurmJob} from '../../../source/engine/slurm/answers/jobs.js';
import type {Cluster} from '../../../source/engine/slurm/cluster.js';
import {createSlurmEngine} from '../../../source/engine/slurm/engine.js';
import type {ClusterState} from '../../../source/engine/slurm/snapshot.js';
import {progressText} from '../../../source/format/queue/waiting-progress.js';
import {createBatchJobs} from '../../../source/engine/slurm/batch-jobs.js';
import {jobOfStep, submission, submitDetached} from '../../../source/engine/slurm/submission.js';

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

/** A clock whose sleeps end a hundred times faster. */
const clock: Clock = {
	monotonicMs: () => performance.now(),
	async sleep(ms, signal) {
		await sleep(ms / 100, undefined, {signal});
	},
	random: () => 0.5,
	uuid: () => 'id',
};

/** A clock that runs a hundred times faster. */
const fastClock: Clock = {...clock, monotonicMs: () => performance.now() * 100};

const request: TimedRequest = {
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
	nodes: ['box1', 'box2'].map((name) => ({
		name,
		gpus: [{type: undefined, count: 4}],
		usedGpus: 0,
		shards: 0,
	})),
	jobs,
	now: 2000,
	readAtMs: 0,
});

const unreachable = (): CanhazgpuError => new CanhazgpuError('store-unreachable', "Slurm's controller does not answer");

/** Returns a cluster that gives these answers one after another and then repeats the last one. */
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

/** Creates a stub of salloc. It waits until the returned function is called, and then has the job. */
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

test('acquire on Slurm reports progress again after the controller was down', async () => {
	const grant = placeSalloc();
	const said: Progress[] = [];
	const cluster = clusterThatSays(unreachable(), unreachable(), stateOf(job({})), stateOf(held));
	const granted = await createSlurmEngine(cluster, clock, undefined).acquire(request, {
		waitSeconds: undefined,
		signal: new AbortController().signal,
		onProgress(progress) {
			said.push(progress);
			if (progress.kind === 'waiting') {
				grant();
			}
		},
	});
	expect(said).toMatchObject([{kind: 'store-lost'}, {kind: 'waiting', position: 1, waiting: 1}]);
	expect(granted).toMatchObject({kind: 'granted', leaseId: '7', gpus: [2]});
});

test('acquireNow on Slurm queries the granted GPUs again if the controller did not answer', async () => {
	placeSalloc()();
	const cluster = clusterThatSays(unreachable(), unreachable(), unreachable(), stateOf(), stateOf(held));
	await expect(createSlurmEngine(cluster, clock, undefined).acquireNow(request)).resolves.toMatchObject({
		kind: 'granted',
		gpus: [2],
	});
});

test('acquire on Slurm cancels a granted job whose GPUs Slurm does not show, or that nobody waits for any longer', async () => {
	const outcomeOf = async (state: ClusterState, abortAtRead: number) => {
		placeSalloc()();
		const ran: string[] = [];
		const caller = new AbortController();
		let reads = 0;
		const cluster = clusterThatSays(state);
		Object.assign(cluster, {
			async read() {
				reads++;
				if (reads === abortAtRead) {
					caller.abort();
				}

				return state;
			},
			async run(...words: readonly string[]) {
				ran.push(words.join(' '));
			},
		});
		const outcome = await createSlurmEngine(cluster, fastClock, undefined)
			.acquire(request, {waitSeconds: undefined, signal: caller.signal, onProgress: () => undefined})
			.catch((error: unknown) => error as CanhazgpuError);
		return {outcome, ran};
	};

	const unnamed = {...held, held: [{node: 'box1', gpus: [], unnamed: 1, shards: new Map()}]};
	expect(await outcomeOf(stateOf(unnamed), Infinity)).toMatchObject({
		outcome: {
			code: 'failed',
			message: 'Slurm granted job 7, but does not show which GPUs it had, so the job was cancelled',
		},
		ran: ['scancel 7'],
	});
	expect(await outcomeOf(stateOf(held), 1)).toEqual({
		outcome: {kind: 'gave-up', reason: 'aborted'},
		ran: ['scancel 7'],
	});
});

test('acquire on Slurm reports a request that somebody removed from the queue as removed', async () => {
	writeFileSync(
		path.join(directory, 'salloc'),
		'#!/bin/sh\necho "salloc: error: Job submit/allocate failed: Job/step already completing or completed" >&2\nexit 1\n',
		{mode: 0o755},
	);
	await expect(
		createSlurmEngine(clusterThatSays(stateOf()), clock, undefined).acquire(request, {
			waitSeconds: 60,
			signal: new AbortController().signal,
			onProgress: () => undefined,
		}),
	).resolves.toEqual({kind: 'gave-up', reason: 'removed'});
});

/**
Creates a stub of salloc for job 7. After the returned function is called, it fails with this message. The job stays in the queue of a controller
that is down.
*/
function placeLostSalloc(words: string): () => void {
	const file = path.join(directory, 'lost');
	writeFileSync(
		path.join(directory, 'salloc'),
		`#!/bin/sh
trap 'exit 1' TERM
echo "salloc: Pending job allocation 7" >&2
while [ ! -e '${file}' ]; do sleep 0.01; done
echo '${words}' >&2
exit 1
`,
		{mode: 0o755},
	);
	return () => {
		writeFileSync(file, '');
	};
}

const contactLost = 'salloc: error: Job allocate failed: Unable to contact slurm controller (connect failure)';

test('acquire on Slurm keeps waiting if salloc gave up while the controller was down', async () => {
	placeLostSalloc(contactLost)();
	const cluster = clusterThatSays(unreachable(), stateOf(job({})), stateOf(held));
	await expect(
		createSlurmEngine(cluster, clock, undefined).acquire(request, {
			waitSeconds: 60,
			signal: new AbortController().signal,
			onProgress: () => undefined,
		}),
	).resolves.toMatchObject({kind: 'granted', leaseId: '7', gpus: [2]});
});

test('acquire on Slurm cancels an abandoned job as soon as the controller is back', async () => {
	const outcomeOf = async (failures: number, isAborted: boolean) => {
		const lose = placeLostSalloc(contactLost);
		const ran: string[] = [];
		const cluster = clusterThatSays(unreachable());
		Object.assign(cluster, {
			async run(...words: readonly string[]) {
				ran.push(words.join(' '));
				if (ran.length <= failures) {
					throw unreachable();
				}
			},
		});
		const called = new AbortController();
		const outcome = await createSlurmEngine(cluster, fastClock, undefined)
			.acquire(request, {
				waitSeconds: 1,
				signal: called.signal,
				onProgress() {
					if (isAborted) {
						called.abort();
					} else {
						lose();
					}
				},
			})
			.catch((error: unknown) => error as CanhazgpuError);
		return {outcome, ran};
	};

	for (const isAborted of [false, true]) {
		expect(await outcomeOf(2, isAborted)).toEqual({
			outcome: {kind: 'gave-up', reason: isAborted ? 'aborted' : 'timeout'},
			ran: ['scancel 7', 'scancel 7', 'scancel 7'],
		});
		const {outcome} = await outcomeOf(Infinity, isAborted);
		expect(outcome).toMatchObject({
			code: 'store-unreachable',
			message: "Slurm's controller does not answer, so job 7 is still in its queue",
			hint: expect.stringContaining('scancel 7') as string,
		});
	}
});

test('acquire on Slurm resubmits a request that the controller has lost', async () => {
	writeFileSync(
		path.join(directory, 'salloc'),
		`#!/bin/sh
trap 'exit 1' TERM
if mkdir ${path.join(directory, 'first')}; then
	echo "salloc: Pending job allocation 6" >&2
	while :; do sleep 0.01; done
fi
echo "salloc: Granted job allocation 7" >&2
`,
		{mode: 0o755},
	);
	const said: Progress[] = [];
	await expect(
		createSlurmEngine(clusterThatSays(stateOf(held)), clock, undefined).acquire(request, {
			waitSeconds: undefined,
			signal: new AbortController().signal,
			onProgress(progress) {
				said.push(progress);
			},
		}),
	).resolves.toMatchObject({kind: 'granted', leaseId: '7'});
	expect(said.map((progress) => progressText(progress))).toEqual([
		'The queue entry was lost. The request joined the queue again, at the end',
	]);
});

test('acquire on Slurm resubmits a request if its job id now belongs to another job', async () => {
	const [asked, killed] = ['asked', 'killed'].map((name) => path.join(directory, name));
	// When it is ended, the real salloc tells the controller that the job with its id has ended, even if another job now has that id. The stub
	// does the same.
	writeFileSync(
		path.join(directory, 'salloc'),
		`#!/bin/sh
trap 'touch ${killed}; exit 1' TERM
if mkdir ${asked}; then
	echo "salloc: Pending job allocation 6" >&2
	while :; do sleep 0.01; done
fi
echo "salloc: Granted job allocation 7" >&2
`,
		{mode: 0o755},
	);
	const other = job({id: 6, user: 'bob', submitTime: 1010});
	const said: Progress[] = [];
	const granted = await createSlurmEngine(
		clusterThatSays(stateOf(job({id: 6})), stateOf(other), stateOf(other, held)),
		clock,
		undefined,
	).acquire(request, {
		waitSeconds: undefined,
		signal: new AbortController().signal,
		onProgress(progress) {
			said.push(progress);
		},
	});
	expect(granted).toMatchObject({kind: 'granted', leaseId: '7'});
	expect(said.map(({kind}) => kind)).toEqual(['waiting', 'rejoined']);
	expect(existsSync(killed!)).toBe(false);
});

test('acquire on Slurm never cancels a job of another user that has reused the job id', async () => {
	const lose = placeLostSalloc(contactLost);
	const ran: string[] = [];
	const other = {...held, user: 'bob', submitTime: 1010};
	const cluster = clusterThatSays(stateOf(job({})), unreachable(), stateOf(other));
	Object.assign(cluster, {
		async run(...words: readonly string[]) {
			ran.push(words.join(' '));
		},
	});
	const called = new AbortController();
	const outcome = await createSlurmEngine(cluster, clock, undefined).acquire(request, {
		waitSeconds: 60,
		signal: called.signal,
		onProgress({kind}) {
			if (kind === 'waiting') {
				lose();
			} else if (kind === 'rejoined') {
				called.abort();
			}
		},
	});
	expect([outcome, ran]).toEqual([{kind: 'gave-up', reason: 'aborted'}, []]);
});

const root = {account: 'root', uid: 0, label: 'root'};

/** Returns a cluster with an array of four tasks. The last task has the id of the array, like all tasks that still wait. */
function clusterWithArray(...more: readonly SlurmJob[]): {readonly cluster: Cluster; readonly ran: string[]} {
	const ran: string[] = [];
	const tasks = [0, 1, 2].map((task) =>
		job({
			id: task === 2 ? 7 : 8 + task,
			array: {id: 7, tasks: String(task), isOne: true},
			isBatch: true,
			state: 'holding',
			startTime: 1500,
			endTime: 5100,
			timeLimitSeconds: 3600,
			held: [{node: 'box1', gpus: [task], unnamed: 0, shards: new Map()}],
		}),
	);
	const cluster = clusterThatSays(stateOf(...tasks, ...more));
	Object.assign(cluster, {
		async run(...words: readonly string[]) {
			ran.push(words.join(' '));
			return '';
		},
	});
	return {cluster, ran};
}

test('release on Slurm ends only the chosen task of an array, even if the task has the job id of the array', async () => {
	const {cluster, ran} = clusterWithArray();
	const engine = createSlurmEngine(cluster, clock, undefined);
	await engine.release(root, {by: 'gpus', ids: [2]});
	await engine.release(root, {by: 'gpus', ids: [0]});
	expect(ran).toEqual(['scancel 7_2', 'scancel 7_0']);
});

test('release on Slurm ends all components of a heterogeneous job', async () => {
	const {cluster, ran} = clusterWithArray(
		...[40, 41].map((id, gpu) =>
			job({
				id,
				leader: 40,
				state: 'holding',
				endTime: 5100,
				timeLimitSeconds: 3600,
				held: [{node: 'box2', gpus: [gpu], unnamed: 0, shards: new Map()}],
			}),
		),
		...[50, 51].map((id) => job({id, leader: 50})),
	);
	const engine = createSlurmEngine(cluster, clock, undefined);
	await expect(engine.release(root, {by: 'gpus', ids: [4]})).rejects.toThrow(
		'GPU 4 alone cannot be released: Slurm gives back only whole jobs, and job 40 has GPU 4,5',
	);
	await expect(engine.extend(root, {by: 'gpus', ids: [4]}, {by: 60})).rejects.toThrow(
		'GPU 4 alone cannot be extended: Slurm extends only whole jobs, and job 40 has GPU 4,5',
	);
	await engine.release(root, {by: 'gpus', ids: [4, 5]});
	await engine.leaveQueue(root, '51');
	expect(ran).toEqual(['scancel 40', 'scancel 50']);
});

test('extend on Slurm does not count the time of a suspension toward the new time limit', async () => {
	const {cluster, ran} = clusterWithArray(
		job({
			id: 90,
			state: 'holding',
			startTime: 1000,
			endTime: 5000,
			timeLimitSeconds: 3600,
			held: [{node: 'box2', gpus: [0], unnamed: 0, shards: new Map()}],
		}),
	);
	const engine = createSlurmEngine(cluster, clock, undefined);
	const result = await engine.extend(root, {by: 'gpus', ids: [4]}, {until: 8600});
	expect(ran).toEqual(['scontrol update JobId=90 TimeLimit=120']);
	expect(result.extended).toMatchObject([{index: 4, expiryTime: 8600}]);
});

test('extend on Slurm changes no job that has an end but no time limit, as while it is ending', async () => {
	const {cluster, ran} = clusterWithArray(
		job({
			id: 91,
			state: 'holding',
			startTime: 1000,
			endTime: 5000,
			held: [{node: 'box2', gpus: [0], unnamed: 0, shards: new Map()}],
		}),
	);
	const engine = createSlurmEngine(cluster, clock, undefined);
	expect(await engine.extend(root, {by: 'gpus', ids: [4]}, {by: 60})).toMatchObject({extended: [], notTimed: [4]});
	expect(ran).toEqual([]);
});

test('leaveQueue on Slurm cancels only the pending tasks of an array', async () => {
	const {cluster, ran} = clusterWithArray(job({id: 70, array: {id: 70, tasks: '3-9', isOne: false}}), job({id: 80}));
	const engine = createSlurmEngine(cluster, clock, undefined);
	await engine.leaveQueue(root, '70');
	await engine.leaveQueue(root, '80');
	expect(ran).toEqual(['scancel --state=PENDING 70', 'scancel 80']);
});

test('leaveQueueWhileEmpty on Slurm cancels a waiting job, which never holds a GPU', async () => {
	const {cluster, ran} = clusterWithArray(job({id: 80}));
	const world = {engine: createSlurmEngine(cluster, clock, undefined)} as unknown as EngineWorld;
	await expect(leaveQueueWhileEmpty(world, root, '80')).resolves.toMatchObject({kind: 'left', id: '80'});
	expect(ran).toEqual(['scancel 80']);
});

test('leaveQueue on Slurm does not cancel a job whose number only starts with the given number', async () => {
	const {cluster, ran} = clusterWithArray(job({id: 123}));
	const engine = createSlurmEngine(cluster, clock, undefined);
	await expect(engine.leaveQueue(root, '12')).resolves.toEqual({kind: 'not-found'});
	expect(ran).toEqual([]);
	await expect(engine.leaveQueue(root, '123')).resolves.toMatchObject({kind: 'left', id: '123'});
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

test('run on Slurm keeps the exit code of a command, even if srun uses the same code for busy GPUs', async () => {
	const cluster = clusterThatSays(stateOf(held));
	const {words, begin, granted, exitCodeOf} = submission(
		cluster,
		clock,
		{...asked, waitSeconds: 60},
		{name: 'gpu', count: 1},
	);
	onTestFinished(begin);
	const prolog = words.find((word) => word.startsWith('--prolog='))!.slice('--prolog='.length);
	const other = path.join(directory, 'other');
	writeFileSync(other, `#!/bin/sh\necho "$@" >${other}.ran\n`, {mode: 0o755});
	execFileSync(prolog, ['sh', '-c'], {env: {...process.env, SLURM_JOB_ID: '7', SLURM_PROLOG: other}});
	expect(readFileSync(`${other}.ran`, 'utf8')).toBe('sh -c\n');
	// By now the command has ended.
	await granted(321, AbortSignal.abort());
	await expect(exitCodeOf(244)).resolves.toBe(244);
	// Without a time limit, srun never exits with that code.
	await expect(submission(cluster, clock, asked, {name: 'gpu', count: 1}).exitCodeOf(244)).resolves.toBe(244);
	await expect(
		submission(cluster, clock, {...asked, waitSeconds: 0}, {name: 'gpu', count: 1}).exitCodeOf(244),
	).rejects.toThrow(expect.objectContaining({code: 'unavailable'}));
});

test('run on Slurm keeps the exit code of a short command, even if srun uses the same code for a failure', async () => {
	const codeOf = async (ended: Partial<SlurmJob>, ...later: readonly SlurmJob[]) => {
		const submitTime = Math.floor(Date.now() / 1000);
		const began = {state: 'ended', name: 'sh', submitTime, startTime: submitTime, endTime: submitTime} as const;
		const cluster = clusterThatSays(stateOf(job({...began, exitCode: 243, ...ended}), ...later));
		Object.assign(cluster, {run: async () => ''});
		return submission(cluster, clock, asked, {name: 'gpu', count: 1})
			.exitCodeOf(243)
			.catch((error: unknown) => (error as CanhazgpuError).code);
	};

	expect(await codeOf({})).toBe(243);
	expect(await codeOf({state: 'holding', stateWord: 'COMPLETING'})).toBe(243);
	const refused = job({id: 8, state: 'ended', name: 'sh', submitTime: Date.now() / 1000});
	expect(await codeOf({}, refused)).toBe('failed');
	const others: ReadonlyArray<Partial<SlurmJob>> = [
		{submitTime: 1000},
		{user: 'bob'},
		{name: 'other'},
		{exitCode: 1},
		// A request that was refused has no start.
		{startTime: undefined},
		{isBatch: true},
	];
	for (const other of others) {
		expect([other, await codeOf(other)]).toEqual([other, 'failed']);
	}
});

test('run on Slurm counts nodes that are down as part of the cluster', async () => {
	const down = (count: number): ClusterState => {
		const [node] = stateOf().nodes;
		return {...stateOf(), nodes: [{...node!, gpus: [{type: undefined, count}], trouble: {kind: 'down', words: ''}}]};
	};

	const codeOf = async (state: ClusterState, more: Partial<Submission> = {}) => {
		const cluster = clusterThatSays(state);
		Object.assign(cluster, {
			async run() {
				throw new CanhazgpuError('impossible', 'No node of this cluster fits this request');
			},
		});
		return submission(cluster, clock, {...asked, waitSeconds: 0, ...more}, {name: 'gpu', count: 2})
			.exitCodeOf(243)
			.catch((error: unknown) => (error as CanhazgpuError).code);
	};

	expect(await codeOf(down(2))).toBe('unavailable');
	expect(await codeOf(down(1))).toBe('impossible');
	expect(await codeOf(stateOf())).toBe('impossible');
	expect(await codeOf(down(2), {request: {...request, host: 'box2'}})).toBe('impossible');
});

test('run on Slurm takes only a step of its own account, host and srun for its own', () => {
	const step = (id: number, uid: number, host: string, pid: number) =>
		`StepId=${id}.0 UserId=${uid} State=RUNNING Name=sh SrunHost:Pid=${host}:${pid} `;
	const own = {pid: 321, uid: 1000, hostname: 'login1.example.org'};
	const others = [step(1, 1001, 'login1', 321), step(2, 1000, 'login2', 321), step(3, 1000, 'login1', 32)];
	expect(jobOfStep(others.join('\n'), own)).toBeUndefined();
	expect(jobOfStep([...others, step(4, 1000, 'login1', 321)].join('\n'), own)).toBe(4);
	expect(jobOfStep([...others.slice(1), step(5, 100_000, 'login1', 321)].join('\n'), {...own, uid: undefined})).toBe(5);
});

test.each([
	['sbatch: error: Batch job submission failed: Socket timed out on send/recv operation', true],
	['sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)', false],
])('run --detach on Slurm says if Slurm may have taken the job: %s', async (said, mayHave) => {
	writeFileSync(path.join(directory, 'sbatch'), `#!/bin/sh\necho '${said}' >&2\nexit 1\n`, {mode: 0o755});
	const error = (await submitDetached({...asked, environment: process.env}, '/', {name: 'gpu', count: 1}).catch(
		(error_: unknown) => error_,
	)) as CanhazgpuError;
	expect(error.code).toBe('store-unreachable');
	expect(error.hint?.startsWith('Slurm may have taken the job.')).toBe(mayHave);
});

test('run --detach on Slurm refuses a command that is too long for one argument of sbatch', async () => {
	writeFileSync(path.join(directory, 'sbatch'), '#!/bin/sh\necho 17\n', {mode: 0o755});
	const submit = async (length: number) =>
		submitDetached({...asked, words: ['echo', 'x'.repeat(length)], environment: process.env}, '/', {
			name: 'gpu',
			count: 1,
		});
	await expect(submit(1000)).resolves.toMatchObject({jobId: '17'});
	await expect(submit(140_000)).rejects.toThrow(
		expect.objectContaining({code: 'usage', message: 'The command is too long for sbatch'}),
	);
});

test('Slurm batch jobs of the account are listed with their states', async () => {
	const batch = (id: number, given: Partial<SlurmJob>): SlurmJob => job({id, isBatch: true, name: 'train', ...given});
	const jobs = createBatchJobs(
		clusterThatSays(
			stateOf(
				batch(1, {reason: 'Dependency'}),
				batch(2, {}),
				batch(3, {state: 'holding', stateWord: 'RUNNING', startTime: 1500}),
				batch(4, {state: 'ended', stateWord: 'FAILED', exitCode: 3, startTime: 1500, endTime: 1600}),
				batch(5, {state: 'ended', stateWord: 'OUT_OF_MEMORY', exitCode: 0, endTime: 1600}),
				batch(6, {user: 'bob', name: 'x --token=secret1'}),
				batch(9, {array: {id: 8, tasks: '3', isOne: true}}),
				job({id: 10}),
			),
		),
	);
	const {rows} = await jobs.list('ann', false);
	expect(rows.map(({id, state, exitCode, reason}) => [id, state, exitCode, reason])).toEqual([
		['1', 'pending', undefined, 'Dependency'],
		['2', 'queued', undefined, 'Resources'],
		['3', 'running', undefined, undefined],
		['4', 'failed', 3, undefined],
		['5', 'failed', 0, 'out of memory'],
		['8_3', 'queued', undefined, 'Resources'],
	]);
	const all = await jobs.list('ann', true);
	expect(all.rows.find(({account}) => account === 'bob')).toMatchObject({id: '6', command: 'x --token=***'});
});

const noDatabase = 'accounting_storage/none';

/** Waits for jobs of a cluster that gives these answers. Returns the ended jobs. */
async function awaitedJobs(
	ids: readonly string[],
	answers: ReadonlyArray<readonly SlurmJob[] | Error>,
	{
		accountingType = noDatabase,
		records = '',
		minJobAgeSeconds = 300,
	}: {accountingType?: string; records?: string; minJobAgeSeconds?: number | undefined} = {},
): Promise<unknown> {
	const rest = [...answers];
	// Each turn reads the jobs once for all ids, within the same task.
	let turn: Promise<ClusterState> | undefined;
	const cluster = {
		async readSince() {
			turn ??= (async () => {
				await sleep(1);
				turn = undefined;
				const answer = rest.length > 1 ? rest.shift()! : rest[0]!;
				if (answer instanceof Error) {
					throw answer;
				}

				return stateOf(...answer);
			})();
			return turn;
		},
		config: async () => ({name: undefined, accountingType, accountingTres: '', minJobAgeSeconds}),
		run: async () => records,
	} as unknown as Cluster;
	const app = {clock, requester: () => request.requester};
	const rows = await awaitEngineJobs(
		app,
		{engine: {jobs: createBatchJobs(cluster)}},
		ids,
		new AbortController().signal,
	);
	return rows?.map(({id, state, exitCode}) => [id, state, exitCode]);
}

const batchJob = (id: number, given: Partial<SlurmJob>): SlurmJob =>
	job({id, isBatch: true, state: 'holding', stateWord: 'RUNNING', startTime: 1500, ...given});
const failedWith = (exitCode: number): Partial<SlurmJob> => ({state: 'ended', stateWord: 'FAILED', exitCode});
const succeeded: Partial<SlurmJob> = {state: 'ended', stateWord: 'COMPLETED', exitCode: 0};
const task = (index: number): Partial<SlurmJob> => ({array: {id: 17, tasks: String(index), isOne: true}});

test('wait on Slurm remembers how a task of an array ended, after the controller has forgotten the task', async () => {
	const [zero, one] = [batchJob(18, task(0)), batchJob(17, task(1))];
	const waiting = batchJob(17, {array: {id: 17, tasks: '1', isOne: false}, state: 'pending', stateWord: 'PENDING'});
	expect(
		await awaitedJobs(
			['17'],
			[
				[zero, waiting],
				[{...zero, ...failedWith(3)}, waiting],
				[{...zero, ...failedWith(3)}, one],
				[one],
				[{...one, ...succeeded}],
			],
		),
	).toEqual([
		['17_0', 'failed', 3],
		['17_1', 'completed', 0],
	]);
});

test('wait on Slurm finds one task among the pending tasks of an array', async () => {
	const waiting = (tasks: string): SlurmJob =>
		batchJob(17, {array: {id: 17, tasks, isOne: false}, state: 'pending', stateWord: 'PENDING'});
	const ended = {...batchJob(20, task(3)), ...failedWith(3)};
	expect(await awaitedJobs(['17_3'], [[waiting('1,3-7%2')], [ended, waiting('4-7%2')]])).toEqual([
		['17_3', 'failed', 3],
	]);
	await expect(awaitedJobs(['17_2'], [[waiting('1,3-7%2')]])).rejects.toThrow('Slurm has no job 17_2');
	const fifteen = {...batchJob(20, task(15)), ...succeeded};
	expect(await awaitedJobs(['17_15'], [[waiting('0-20:5%2')], [fifteen]])).toEqual([['17_15', 'completed', 0]]);
	await expect(awaitedJobs(['17_12'], [[waiting('0-20:5')]])).rejects.toThrow('Slurm has no job 17_12');
});

test('wait on Slurm remembers how a job ended while it waits for another job', async () => {
	const [five, six] = [batchJob(5, {}), batchJob(6, {})];
	expect(
		await awaitedJobs(
			['5', '6'],
			[[five, six], [{...five, ...succeeded}, six], [six], unreachable(), [{...six, ...failedWith(4)}]],
		),
	).toEqual([
		['5', 'completed', 0],
		['6', 'failed', 4],
	]);
});

test('wait on Slurm reports a running job that the controller has forgotten as lost', async () => {
	expect(await awaitedJobs(['5'], [[batchJob(5, {})], unreachable(), []])).toEqual([['5', 'lost', undefined]]);
	await expect(awaitedJobs(['5'], [[]])).rejects.toThrow('Slurm has no job 5');
});

test("wait on Slurm reads every task of an array from Slurm's database, and the signals that ended them", async () => {
	const times = '1000|1500|1600';
	const records = [
		`17_0|ann|COMPLETED|0:0|${times}|train`,
		`17_1|ann|FAILED|3:0|${times}|train`,
		`17_2|ann|FAILED|0:9|${times}|train`,
		`17_3|ann|OUT_OF_MEMORY|0:125|${times}|train`,
		'17_[4-9]|ann|CANCELLED by 1000|0:0|1000|None|1600|train',
		'',
	].join('\n');
	expect(await awaitedJobs(['17'], [[]], {accountingType: 'accounting_storage/slurmdbd', records})).toEqual([
		['17_0', 'completed', 0],
		['17_1', 'failed', 3],
		['17_2', 'failed', 137],
		['17_3', 'failed', 0],
		['17', 'cancelled', undefined],
	]);
});

test("wait on Slurm adds the tasks of an array that the controller has forgotten from Slurm's database", async () => {
	const one = batchJob(17, task(1));
	const records = ['17_0|ann|FAILED|7:0|1000|1500|1600|train', '17_1|ann|RUNNING|0:0|1000|1500|Unknown|train', ''].join(
		'\n',
	);
	const accountingType = 'accounting_storage/slurmdbd';
	const answers = [[one], [{...one, ...succeeded}]];
	expect(await awaitedJobs(['17'], answers, {accountingType, records})).toEqual([
		['17_0', 'failed', 7],
		['17_1', 'completed', 0],
	]);
	// The controller's answer is newer than the database.
	const known = [batchJob(18, {...task(0), ...failedWith(3)}), {...one, ...succeeded}];
	expect(await awaitedJobs(['17'], [known], {accountingType, records})).toEqual([
		['17_0', 'failed', 3],
		['17_1', 'completed', 0],
	]);
});

test('wait on Slurm without a database refuses an array with tasks that the controller may have forgotten', async () => {
	const ended = (id: number, index: number): SlurmJob => batchJob(id, {...task(index), ...succeeded});
	const waiting = batchJob(17, {array: {id: 17, tasks: '2-9%2', isOne: false}, state: 'pending'});
	for (const jobs of [
		[ended(17, 1)],
		[ended(18, 0), ended(17, 2)],
		[ended(18, 0), ended(19, 1)],
		[ended(19, 1), waiting],
	]) {
		await expect(awaitedJobs(['17'], [jobs])).rejects.toThrow(
			expect.objectContaining({
				code: 'failed',
				message: 'Slurm may have forgotten how some tasks of array 17 ended',
			}),
		);
	}

	const whole = [ended(18, 0), ended(17, 1)];
	expect(await awaitedJobs(['17'], [whole])).toHaveLength(2);
	// This array was submitted 1000 seconds ago.
	expect(await awaitedJobs(['17'], [[ended(17, 1)]], {minJobAgeSeconds: 1001})).toHaveLength(1);
	expect(await awaitedJobs(['17_1'], [[ended(17, 1)]])).toHaveLength(1);
});
