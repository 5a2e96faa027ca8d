import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {shardCount, gpuKinds, heldGres, wantedGres} from '../../../source/engine/slurm/answers/gres.js';
import {hostsOf, rangeNumbers, splitOutside} from '../../../source/engine/slurm/answers/host-list.js';
import {readJobs} from '../../../source/engine/slurm/answers/jobs.js';
import {readNodes, readPartitions} from '../../../source/engine/slurm/answers/nodes.js';

test.each([
	['box1', ['box1']],
	['box[1-3,7],login', ['box1', 'box2', 'box3', 'box7', 'login']],
	['n[08-11]x', ['n08x', 'n09x', 'n10x', 'n11x']],
	['r[1-2]n[1-2]', ['r1n1', 'r1n2', 'r2n1', 'r2n2']],
	['', []],
	['box[3-1]', []],
])('hostsOf reads the host list %j as %j', (list, hosts) => {
	expect(hostsOf(list)).toEqual(hosts);
});

test('hostsOf, rangeNumbers and splitOutside accept any text', () => {
	fc.assert(
		fc.property(fc.string(), (text) => {
			expect(Array.isArray(hostsOf(text))).toBe(true);
			expect(rangeNumbers(text).every((number) => Number.isSafeInteger(number))).toBe(true);
			expect(splitOutside(text).every((part) => part !== '')).toBe(true);
		}),
	);
});

test('gpuKinds returns the GPUs of a node with their types', () => {
	expect(gpuKinds('gpu:4')).toEqual([{type: undefined, count: 4}]);
	expect(gpuKinds('gpu:a100:4(S:0-1),gpu:v100:2,shard:16,nic:2')).toEqual([
		{type: 'a100', count: 4},
		{type: 'v100', count: 2},
	]);
	expect(gpuKinds('(null)')).toEqual([]);
	expect(shardCount('gpu:4,shard:a100:8,shard:v100:8')).toBe(16);
});

test('heldGres returns the GPU numbers and shards of a job', () => {
	expect(heldGres('gpu:a100:3(IDX:0,2-3)')).toEqual({gpus: [0, 2, 3], unnamed: 0, shards: new Map()});
	expect(heldGres('gpu:2')).toEqual({gpus: [], unnamed: 2, shards: new Map()});
	expect(heldGres('shard:2(IDX:0)')).toEqual({gpus: [], unnamed: 0, shards: new Map([[0, 2]])});
	expect(heldGres('shard:a100:3(IDX:1,3)')).toEqual({
		gpus: [],
		unnamed: 0,
		shards: new Map([
			[1, 2],
			[3, 2],
		]),
	});
	expect(heldGres('gpu:a:1(IDX:1),gpu:b:1(IDX:0)')).toMatchObject({gpus: [0, 1]});
	expect(heldGres('mps:50(IDX:2)')).toEqual({gpus: [], unnamed: 0, shards: new Map([[2, 50]])});
});

test.each([
	[{perNode: 'gres:gpu:2'}, {type: undefined, count: 2}],
	[
		{perNode: 'gres/gpu:a100:2', nodes: 3},
		{type: 'a100', count: 6},
	],
	[{perNode: 'gres/gpu=2'}, {type: undefined, count: 2}],
	[{perJob: 'gpu:8'}, {type: undefined, count: 8}],
	[
		{perTask: 'gres:gpu:1', tasks: 4},
		{type: undefined, count: 4},
	],
	[{perNode: 'gres:gpu'}, {type: undefined, count: 1}],
	[{perNode: 'gres:nic:2'}, undefined],
])('wantedGres for the request %j returns %j', (wishes, kind) => {
	const whole = {perNode: '', perJob: '', perTask: '', perSocket: '', nodes: 1, tasks: 1, ...wishes};
	expect(wantedGres(whole, 'gpu')).toEqual(kind);
});

const old = {
	job_id: 7,
	user_name: 'ann',
	name: 'train',
	comment: 'for the paper',
	job_state: 'RUNNING',
	state_reason: 'None',
	batch_flag: true,
	command: '/home/ann/job.sh',
	priority: 100,
	submit_time: 1000,
	start_time: 1010,
	end_time: 4610,
	time_limit: 60,
	nodes: 'box[1-2]',
	node_count: 2,
	tasks: 1,
	tres_per_node: 'gres:gpu:1',
	gres_detail: ['gpu:1(IDX:3)', 'gpu:1(IDX:0)'],
	cluster: 'lab',
};

const set = (number: number) => ({set: true, infinite: false, number});

/** The same job as `old`, in the format of Slurm 23.11. */
const recent = {
	...old,
	job_state: ['RUNNING'],
	priority: set(100),
	submit_time: set(1000),
	start_time: set(1010),
	end_time: set(4610),
	time_limit: set(60),
	node_count: set(2),
	tasks: set(1),
	tres_per_node: 'gres/gpu:1',
};

const answer = (job: Record<string, unknown>, meta?: Record<string, unknown>): string =>
	JSON.stringify({meta: meta ?? {Slurm: {release: '22.05.8'}}, errors: [], jobs: [job]});

test('readJobs returns the same job for old and recent versions of Slurm', () => {
	const [job] = readJobs(answer(old));
	expect(readJobs(answer(recent, {slurm: {release: '23.11.4', cluster: 'lab'}}))).toEqual([job]);
	expect(job).toMatchObject({
		id: 7,
		state: 'holding',
		endTime: 4610,
		timeLimitSeconds: 3600,
		gpus: {count: 2},
		held: [
			{node: 'box1', gpus: [3]},
			{node: 'box2', gpus: [0]},
		],
	});
});

test('readJobs reads a request for shards or MPS', () => {
	const of = (tres_per_node: string) => readJobs(answer({...old, tres_per_node}))[0];
	expect(of('gres:shard:2')).toMatchObject({gpus: undefined, shards: {name: 'shard', count: 4}});
	expect(of('gres/mps:a100:50')).toMatchObject({gpus: undefined, shards: {name: 'mps', type: 'a100', count: 100}});
	expect(of('gres:gpu:2')).toMatchObject({gpus: {count: 4}, shards: undefined});
});

test('readJobs returns no end for a job without a time limit, although Slurm reports an end', () => {
	// Slurm reports a time limit of one year for a job without a limit, but the job ends when its command ends.
	for (const time_limit of [null, {set: false, infinite: true, number: 0}, 525_600]) {
		expect(readJobs(answer({...old, time_limit}))[0]!.endTime).toBeUndefined();
	}
});

test.each([
	[62_464, 244],
	[9, 137],
	[125, 0],
	[{status: ['SIGNALED'], return_code: set(0), signal: {id: set(9), name: 'Killed'}}, 137],
	[{status: 'ERROR', return_code: 244}, 244],
	[{status: ['ERROR'], return_code: set(244), signal: {id: {set: false}}}, 244],
	[undefined, undefined],
])('readJobs turns the exit code %j of Slurm into %j', (exit_code, exitCode) => {
	expect(readJobs(answer({...old, exit_code}))[0]!.exitCode).toBe(exitCode);
});

test.each([
	['COMPLETING', 'TimeLimit', 'TIMEOUT'],
	['COMPLETING', 'NodeDown', 'NODE_FAIL'],
	['COMPLETING', 'None', 'COMPLETING'],
	[['TIMEOUT', 'COMPLETING'], 'TimeLimit', 'TIMEOUT'],
	[['COMPLETING', 'NODE_FAIL'], 'NodeDown', 'NODE_FAIL'],
	['TIMEOUT', 'TimeLimit', 'TIMEOUT'],
])('readJobs reads the state %j with the reason %s as %s', (job_state, state_reason, stateWord) => {
	expect(readJobs(answer({...old, job_state, state_reason}))[0]!.stateWord).toBe(stateWord);
});

test('readJobs marks suspended and stopped jobs', () => {
	const of = (job_state: unknown) => readJobs(answer({...old, job_state}))[0];
	expect(of('SUSPENDED')).toMatchObject({state: 'holding', isSuspended: true, endTime: undefined});
	expect(of(['SUSPENDED'])).toMatchObject({state: 'holding', isSuspended: true, endTime: undefined});
	expect(of(['RUNNING', 'STOPPED'])).toMatchObject({state: 'holding', isSuspended: true, endTime: 4610});
	expect(of('RUNNING')).toMatchObject({isSuspended: false, endTime: 4610});
});

test('readJobs returns no start estimate for a job that waits behind a job without a time limit', () => {
	const year = 365 * 24 * 3600;
	const estimateOf = (start_time: number, ...others: ReadonlyArray<Record<string, unknown>>) => {
		const waiting = {...old, job_id: 9, job_state: 'PENDING', nodes: '', start_time, time_limit: null};
		const jobs = [...others, waiting];
		return readJobs(JSON.stringify({errors: [], jobs})).at(-1)!.startTime;
	};

	const endless = {...old, time_limit: 525_600};
	expect(estimateOf(1010 + year, endless)).toBeUndefined();
	expect(estimateOf(2000, endless)).toBe(2000);
	expect(estimateOf(1010 + year, old)).toBe(1010 + year);
	// The other job is pending and first in the queue.
	expect(
		estimateOf(2000 + year, {...endless, job_state: 'PENDING', start_time: 2000, time_limit: null}),
	).toBeUndefined();
});

test('readJobs returns no start estimate for a held job', () => {
	const held = {...old, job_state: 'PENDING', nodes: '', start_time: 2000};
	expect(readJobs(answer({...held, state_reason: 'JobHeldUser'}))[0]!.startTime).toBeUndefined();
	expect(readJobs(answer({...held, state_reason: 'Priority'}))[0]!.startTime).toBe(2000);
});

test('readJobs reads each task of an array with its own number', () => {
	const arrayOf = (more: Record<string, unknown>) => readJobs(answer({...old, ...more}))[0]!.array;
	expect(arrayOf({array_job_id: 0, array_task_id: null, array_task_string: ''})).toBeUndefined();
	expect(arrayOf({array_job_id: set(0), array_task_id: {...set(0), set: false}})).toBeUndefined();
	expect(arrayOf({array_job_id: 7, array_task_id: null, array_task_string: '2-3%2'})).toEqual({
		id: 7,
		tasks: '2-3%2',
		isOne: false,
	});
	expect(arrayOf({array_job_id: set(7), array_task_id: set(0)})).toEqual({id: 7, tasks: '0', isOne: true});
});

test.each([
	['PENDING', 'pending'],
	[['PENDING'], 'pending'],
	[['RUNNING', 'COMPLETING'], 'holding'],
	[['CANCELLED', 'COMPLETING'], 'holding'],
	['SUSPENDED', 'holding'],
	['TIMEOUT', 'ended'],
	[['COMPLETED'], 'ended'],
	['A_STATE_OF_LATER', 'holding'],
])('readJobs reads the state %j as %s', (job_state, state) => {
	expect(readJobs(answer({...old, job_state}))[0]!.state).toBe(state);
});

test('readJobs returns no start for a job that ended without a node, although Slurm reports a start', () => {
	const ended = {...old, end_time: 1010, gres_detail: []};
	const startOf = (more: Record<string, unknown>) => readJobs(answer({...ended, ...more}))[0]!.startTime;
	expect(startOf({job_state: 'CANCELLED', nodes: ''})).toBeUndefined();
	expect(startOf({job_state: ['FAILED'], nodes: ''})).toBeUndefined();
	expect(startOf({job_state: 'COMPLETED'})).toBe(1010);
	expect(startOf({job_state: 'PENDING', nodes: ''})).toBe(1010);
});

describe('readJobs for an invalid answer', () => {
	test.each([
		'',
		'{}',
		'[]',
		'null',
		'{"jobs": {}}',
		// While the controller is down, squeue exits with 0 and prints an empty list.
		'{"errors": [{"description": "Failed while looking for jobs", "error": "Unspecified error"}], "jobs": []}',
	])('throws and does not return an empty queue: %j', (text) => {
		expect(() => readJobs(text)).toThrow(expect.objectContaining({code: 'store-unreachable'}));
	});
});

test('readJobs accepts any values in the fields of a job', () => {
	fc.assert(
		fc.property(fc.array(fc.dictionary(fc.constantFrom(...Object.keys(old)), fc.jsonValue())), (jobs) => {
			expect(readJobs(JSON.stringify({errors: [], jobs})).length).toBeLessThanOrEqual(jobs.length);
		}),
	);
});

const line = (name: string, state: string, more = ''): string =>
	`NodeName=${name} Arch=x86_64 CPUTot=8 Gres=gpu:2 GresDrain=N/A GresUsed=gpu:1 NodeAddr=127.0.0.1 State=${state} Partitions=main ${more}`;

test('readNodes sorts nodes by number and omits nodes without GPUs', () => {
	const text = [
		line('box10', 'IDLE'),
		line('box2', 'MIXED'),
		line('later', 'FUTURE'),
		'NodeName=login Gres=(null) State=IDLE',
		'',
	];
	expect(readNodes(text.join('\n')).map(({name, usedGpus}) => [name, usedGpus])).toEqual([
		['box2', 1],
		['box10', 1],
	]);
});

test.each([
	['gpu:v100:0(IDX:N/A),shard:v100:0(IDX:N/A),mps:0', 0, []],
	['gpu:v100:1(IDX:3),shard:v100:2(IDX:0-1),mps:0', 3, [3, 0, 1]],
	['gpu:v100:0(IDX:N/A),shard:v100:0(IDX:N/A),mps:v100:1(IDX:0)', 1, [0]],
	['gpu:0(IDX:N/A),shard:6(2/4,4/4,0/4,0/4)', 2, [0, 1]],
	['gpu:2', 2, []],
])('readNodes for GresUsed=%s returns %i GPUs in use, with the known numbers %j', (used, usedGpus, usedIds) => {
	const [node] = readNodes(`NodeName=box1 Gres=gpu:4,shard:16 GresUsed=${used} State=MIXED`);
	expect(node).toMatchObject({usedGpus, usedIds});
});

const since = new Date(2026, 10, 22, 21, 25, 30).getTime() / 1000;

test.each([
	['IDLE', undefined],
	['MIXED', undefined],
	['ALLOCATED+PLANNED', undefined],
	['IDLE+CLOUD+POWERED_DOWN', undefined],
	['IDLE+DRAIN', {kind: 'drained', reason: 'fan is dead', by: 'root', since}],
	['IDLE+RESERVED', {kind: 'drained', reason: 'fan is dead', by: 'root', since}],
	['IDLE+FAIL', {kind: 'drained', reason: 'fan is dead', by: 'root', since}],
	['MIXED+MAINTENANCE', {kind: 'drained', reason: 'fan is dead', by: 'root', since}],
	['DOWN', {kind: 'down', words: 'node box1 is down: fan is dead'}],
	['DOWN*', {kind: 'down', words: 'node box1 does not answer'}],
	['IDLE*', {kind: 'down', words: 'node box1 does not answer'}],
	['MIXED+NOT_RESPONDING', {kind: 'down', words: 'node box1 does not answer'}],
	['UNKNOWN', {kind: 'down', words: 'node box1 is unknown: fan is dead'}],
	['A_STATE_OF_LATER', {kind: 'down', words: 'node box1 is a_state_of_later: fan is dead'}],
])('readNodes for the node state %s returns the problem %j', (state, trouble) => {
	expect(readNodes(line('box1', state, 'Reason=fan is dead [root@2026-11-22T21:25:30]'))[0]!.trouble).toEqual(trouble);
});

test.each([
	['MIXED+RESERVED', 'kept for a Slurm reservation'],
	['IDLE+FAIL', 'expected to fail soon'],
	['IDLE+REBOOT_ISSUED', 'being rebooted'],
	['IDLE+POWERING_DOWN', 'being powered down'],
])('readNodes for the node state %s without an administrator\'s reason returns the reason "%s"', (state, reason) => {
	expect(readNodes(line('box1', state))[0]!.trouble).toMatchObject({kind: 'drained', reason});
});

describe('readNodes with partitions', () => {
	const partition = (name: string, state: string, shared = 'NO'): string =>
		`PartitionName=${name} AllowGroups=ALL Default=YES OverSubscribe=${shared} PreemptMode=OFF State=${state} TotalNodes=3`;

	const closedBy = (state: string, partitions: string, ...lines: readonly string[]) =>
		readNodes(
			line('box1', state).replace(' Partitions=main', () => (partitions === '' ? '' : ` Partitions=${partitions}`)),
			readPartitions(lines.join('\n')),
		)[0]!.closed;

	test.each([
		['main', [partition('main', 'UP')], undefined],
		['main', [partition('main', 'DOWN')], 'partition main is down'],
		['main', [partition('main', 'DRAIN')], 'partition main is drained'],
		['main', [partition('main', 'INACTIVE')], 'partition main is inactive'],
		['main', [partition('main', 'A_STATE_OF_LATER')], 'partition main is a_state_of_later'],
		['main,long', [partition('main', 'DOWN'), partition('long', 'UP')], undefined],
		['main,long', [partition('main', 'DOWN'), partition('long', 'DRAIN')], 'partition main is down, long is drained'],
		// The second partition was created between the two queries.
		['main,long', [partition('main', 'DOWN')], undefined],
		['', [partition('main', 'UP')], 'node box1 is in no partition'],
		// No partition is reported, so it is unknown whether jobs can start.
		['', [], undefined],
	])('for a node of %j and the partitions %j returns why no job can start: %j', (names, lines, reason) => {
		expect(closedBy('IDLE', names, ...lines)).toBe(reason);
	});

	test.each([
		['ALLOCATED', 'NO', 'jobs use all cores of box1'],
		['ALLOCATED', 'YES:4', 'jobs use all cores of box1'],
		['ALLOCATED', 'FORCE:4', undefined],
		['MIXED', 'NO', undefined],
	])('for the node state %s and OverSubscribe=%s returns why no job can start: %j', (state, shared, reason) => {
		expect(closedBy(state, 'main', partition('main', 'UP', shared))).toBe(reason);
	});
});
