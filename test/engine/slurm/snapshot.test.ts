/** How each interface shows the state of a Slurm cluster. A GPU is free only if Slurm reports it as free. */
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {queueRows} from '../../../source/core/rules/queue/queue-rows.js';
import {statusRows} from '../../../source/core/rules/pool/status.js';
import type {SlurmJob} from '../../../source/engine/slurm/answers/jobs.js';
import type {SlurmNode} from '../../../source/engine/slurm/answers/nodes.js';
import {createEventOrder, recentEvents} from '../../../source/engine/slurm/events.js';
import {hasHiddenJobs, observationOf, snapshotOf, type ClusterState} from '../../../source/engine/slurm/snapshot.js';
import {statusJson} from '../../../source/format/json/status-json.js';
import {sharesText} from '../../../source/format/shares.js';
import {endText} from '../../../source/tui/panels/shared/row-words.js';
import type {Gpu} from '../../../source/web/page/fields.js';
import {isolated, sharesText as sharesOnPage} from '../../../source/web/page/text.js';
import {engineReasonText} from '../../../source/format/engine/engine-reasons.js';

const job = (given: Partial<SlurmJob>): SlurmJob => ({
	id: 1,
	user: 'ann',
	name: 'train',
	comment: '',
	state: 'holding',
	stateWord: 'RUNNING',
	reason: 'None',
	isBatch: true,
	command: 'job.sh',
	priority: 1,
	submitTime: 1000,
	held: [],
	gpus: {type: undefined, count: 1},
	...given,
});

const node = (name: string, given: Partial<SlurmNode> = {}): SlurmNode => ({
	name,
	gpus: [{type: undefined, count: 4}],
	usedGpus: 0,
	shards: 0,
	...given,
});

const stateOf = (nodes: readonly SlurmNode[], jobs: readonly SlurmJob[]): ClusterState => ({
	nodes,
	jobs,
	now: 2000,
	readAtMs: 0,
});

const rowsOf = (state: ClusterState) => statusRows(snapshotOf(state), observationOf(state), 0);

const holding = (names: readonly string[]) =>
	fc.record({
		node: fc.constantFrom(...names),
		gpus: fc.uniqueArray(fc.integer({min: 0, max: 3})),
		unnamed: fc.constantFrom(0, 0, 1),
		shards: fc.constant(new Map<number, number>()),
	});

const cluster = fc.record({
	used: fc.array(fc.integer({min: 0, max: 4}), {minLength: 2, maxLength: 2}),
	/** The numbers of the used GPUs that the node reports. */
	usedIds: fc.array(fc.uniqueArray(fc.integer({min: 0, max: 3})), {minLength: 2, maxLength: 2}),
	troubles: fc.array(
		fc.constantFrom(undefined, {kind: 'down', words: 'it is down'} as const, {kind: 'drained', reason: 'fan'} as const),
		{minLength: 2, maxLength: 2},
	),
	closed: fc.array(fc.constantFrom(undefined, 'partition main is down'), {minLength: 2, maxLength: 2}),
	held: fc.array(holding(['box1', 'box2']), {maxLength: 4}),
});

test('a Slurm GPU is available only if its node can start jobs and no job holds or may hold the GPU', () => {
	fc.assert(
		fc.property(cluster, ({used, usedIds, troubles, closed, held}) => {
			const nodes = ['box1', 'box2'].map((name, index) => {
				const trouble = troubles[index];
				return node(name, {
					usedGpus: Math.max(used[index]!, usedIds[index]!.length),
					usedIds: usedIds[index]!,
					closed: closed[index],
					...(trouble !== undefined && {trouble}),
				});
			});
			const jobs = held.map((each, position) => job({id: position + 1, held: [each]}));
			const rows = rowsOf(stateOf(nodes, jobs));
			expect(rows).toHaveLength(8);
			for (const row of rows) {
				const {node: name, gpu} = row.reading!.place!;
				const index = nodes.findIndex((each) => each.name === name);
				const here = held.filter((each) => each.node === name);
				const isHeld = here.some(({gpus}) => gpus.includes(gpu));
				const named = here.flatMap(({gpus}) => gpus);
				const hidden = usedIds[index]!.filter((id) => !named.includes(id));
				const inAll = Math.max(
					nodes[index]!.usedGpus,
					named.length + here.reduce((sum, {unnamed}) => sum + unnamed, 0),
				);
				const mayBeHeld = hidden.includes(gpu) || inAll > named.length + hidden.length;
				const isFree = !isHeld && !mayBeHeld && troubles[index] === undefined && closed[index] === undefined;
				expect(row.state).toBe(isHeld ? 'in-use' : isFree ? 'available' : 'error');
			}
		}),
	);
});

test('a Slurm GPU that the node reports as used is unavailable even if its job is hidden', () => {
	const state = stateOf([node('box1', {usedGpus: 2, usedIds: [1, 3]})], []);
	expect(rowsOf(state).map(({state: each, problem}) => [each, problem])).toEqual([
		['available', undefined],
		['error', 'a job has GPU 1 of box1, but Slurm does not say which job'],
		['available', undefined],
		['error', 'a job has GPU 3 of box1, but Slurm does not say which job'],
	]);
	// A job that ended between the two queries has the same effect, so the jobs are queried again.
	const held = [{node: 'box1', gpus: [0], unnamed: 0, shards: new Map<number, number>()}];
	const of = (usedIds: readonly number[]) =>
		hasHiddenJobs(stateOf([node('box1', {usedGpus: 1, usedIds})], [job({held})]));
	expect([of([0]), of([1]), of([])]).toEqual([false, true, false]);
});

test('a waiting Slurm job has a position by priority, a reason and an estimate', () => {
	const pending = {state: 'pending', stateWord: 'PENDING'} as const;
	const state = stateOf(
		[node('box1')],
		[
			job({id: 5, ...pending, priority: 10, reason: 'Priority'}),
			job({id: 6, ...pending, priority: 20, reason: 'Resources', startTime: 2600, gpus: {type: 'a100', count: 2}}),
			job({id: 7, ...pending, priority: 20, submitTime: 900, reason: 'QOSMaxGRESPerUser'}),
			{...job({id: 8, ...pending, priority: 99}), gpus: undefined},
		],
	);
	expect(
		queueRows(snapshotOf(state)).map(({position, id, estimateSeconds, blockers}) => [
			position,
			id,
			estimateSeconds,
			blockers
				.map((blocker) => (blocker.kind === 'engine' ? engineReasonText(blocker.reason) : blocker.kind))
				.join(','),
		]),
	).toEqual([
		[1, '7', undefined, 'a limit of its quality of service is reached (QOSMaxGRESPerUser)'],
		[2, '6', 600, 'no GPUs free yet'],
		[3, '5', undefined, 'others come first'],
	]);
});

test('a Slurm share of unknown size is shown without a size', () => {
	const held = [{node: 'box1', gpus: [], unnamed: 0, shards: new Map([[0, 2]])}];
	const state = stateOf([node('box1', {shards: 16})], [job({id: 1, held}), job({id: 2, user: 'bob', held})]);
	expect(sharesText(rowsOf(state)[0]!)).toBe('2 shares ann, bob');
	expect(sharesOnPage({gpu_id: 0, shares: [{user: 'ann'}, {user: 'bob', memory_mb: 8192}]} as Gpu)).toBe(
		`${isolated('ann')}, ${isolated('bob')} 8G`,
	);
});

test('a Slurm request for shards or MPS is shown as a request for one GPU, with the amount in its note', () => {
	const waiting = {state: 'pending', gpus: undefined} as const;
	const state = stateOf(
		[node('box1')],
		[
			job({...waiting, id: 5, shards: {name: 'shard', type: undefined, count: 2}}),
			job({...waiting, id: 6, shards: {name: 'mps', type: 'a100', count: 50}, name: 'wrap'}),
			job({
				...waiting,
				id: 7,
				shards: {name: 'shard', type: undefined, count: 1},
				array: {id: 7, tasks: '0-3', isOne: false},
			}),
		],
	);
	expect(queueRows(snapshotOf(state)).map(({entry}) => [entry?.requestedCount, entry?.need, entry?.note])).toEqual([
		[1, undefined, 'train (shard:2)'],
		[1, {models: ['a100']}, 'share (mps:50)'],
		[1, undefined, 'train (tasks 0-3, shard:1)'],
	]);
});

test('waiting tasks of a Slurm array are shown with their numbers', () => {
	const array = {id: 5, tasks: '2-3%2', isOne: false};
	const state = stateOf(
		[node('box1')],
		[job({id: 5, state: 'pending', array}), job({id: 6, state: 'pending', array, name: 'wrap'})],
	);
	expect(queueRows(snapshotOf(state)).map(({entry}) => entry?.note)).toEqual([
		'train (tasks 2-3%2)',
		'array (tasks 2-3%2)',
	]);
});

test('the GPUs of a Slurm node are unavailable if the node is still cleaning up a minute after a job has ended', () => {
	const after = (seconds: number) => {
		const ended = job({id: 3, stateWord: 'COMPLETING', clearing: ['box1'], endTime: 2000 - seconds});
		return rowsOf(stateOf([node('box1'), node('box2')], [ended])).map(({state}) => state);
	};

	expect(new Set(after(1))).toEqual(new Set(['available']));
	expect(after(60)).toEqual([...Array.from({length: 4}, () => 'error'), ...Array.from({length: 4}, () => 'available')]);
});

test('a Slurm allocation without a command is shown as a reservation', () => {
	const held = [{node: 'box1', gpus: [0], unnamed: 0, shards: new Map<number, number>()}];
	const state = stateOf(
		[node('box1', {usedGpus: 1})],
		[job({id: 3, isBatch: false, command: '', name: 'reserve', comment: 'mine', endTime: 5600, startTime: 2000, held})],
	);
	expect(snapshotOf(state).gpus[0]).toMatchObject({
		kind: 'leased',
		lease: {user: 'ann', type: 'manual', expiryTime: 5600, note: 'mine', leaseId: '3'},
	});
	expect(rowsOf(state)[1]!.state).toBe('available');
});

test('a suspended Slurm job is marked in status --json and in top', () => {
	const held = [0, 1].map((gpu) => [{node: 'box1', gpus: [gpu], unnamed: 0, shards: new Map<number, number>()}]);
	const state = stateOf(
		[node('box1', {usedGpus: 2})],
		[
			job({id: 3, isSuspended: true, held: held[0]!}),
			job({id: 4, isSuspended: true, isBatch: false, command: '', name: 'reserve', held: held[1]!}),
		],
	);
	const rows = rowsOf(state).slice(0, 2);
	expect(statusJson(rows, observationOf(state)).map(({type, details}) => [type, details])).toEqual([
		['RUN', 'suspended'],
		['MANUAL', 'suspended'],
	]);
	expect(rows.map((row) => endText(row))).toEqual(['paused', 'paused']);
});

test('the share of a suspended Slurm job is marked, even next to shares of running jobs', () => {
	const held = [{node: 'box1', gpus: [], unnamed: 0, shards: new Map([[0, 2]])}];
	const state = stateOf(
		[node('box1', {usedGpus: 1, shards: 16})],
		[job({id: 3, held}), job({id: 4, user: 'bob', isSuspended: true, held})],
	);
	const [row] = rowsOf(state);
	expect(sharesText(row!)).toBe('2 shares ann, bob suspended');
	const page: Gpu = {gpu_id: 0, state: 'in-use', shares: [{user: 'ann'}, {user: 'bob', is_suspended: true}] as never};
	expect(sharesOnPage(page)).toBe(`${isolated('ann')}, ${isolated('bob')} suspended`);
});

test('recentEvents returns each event of the Slurm jobs once and in order', () => {
	const jobs = [
		job({id: 1, startTime: 1000, state: 'ended', stateWord: 'TIMEOUT', endTime: 1500}),
		job({id: 2, startTime: 1300, submitTime: 1100}),
	];
	const all = recentEvents(jobs, [node('box1')], {});
	expect(all.map(({kind, time, leaseId}) => `${kind} ${leaseId} ${time}`)).toEqual([
		'granted 1 1000',
		'joined 2 1100',
		'granted 2 1300',
		'ended 1 1500',
	]);
	expect(recentEvents(jobs, [node('box1')], {afterId: all[1]!.id})).toEqual(all.slice(2));
	expect(recentEvents(jobs, [node('box1')], {newest: 1})).toEqual(all.slice(3));
});

test('status --json shows since when a Slurm node has been drained', () => {
	const since = [1500, undefined].map((time) => {
		const drained = node('box1', {gpus: [{type: undefined, count: 1}], trouble: {kind: 'drained', since: time}});
		return statusJson(rowsOf(stateOf([drained], [])), observationOf(stateOf([drained], [])))[0]!.drained;
	});
	expect(since).toEqual([{since: '1970-01-01T00:25:00Z'}, {}]);
});

test('recentEvents returns no GPUs for a job that was refused or left the queue', () => {
	const ended = {state: 'ended', startTime: undefined} as const;
	const jobs = [
		job({...ended, id: 1, stateWord: 'FAILED', endTime: 1000}),
		job({...ended, id: 2, stateWord: 'CANCELLED', endTime: 1400}),
		job({...ended, id: 3, stateWord: 'FAILED', endTime: 1500}),
	];
	expect(recentEvents(jobs, [node('box1')], {}).map(({kind, time, leaseId}) => `${kind} ${leaseId} ${time}`)).toEqual([
		'refused 1 1000',
		'joined 2 1000',
		'joined 3 1000',
		'left 2 1400',
		'refused 3 1500',
	]);
});

test('recentEvents returns every event once to a follower, even if a later event has a lower id', () => {
	const order = createEventOrder();
	const read = (jobs: readonly SlurmJob[], afterId?: string) => recentEvents(jobs, [node('box1')], {afterId}, order);
	const waiting = job({id: 1, state: 'pending', submitTime: 1000});
	const running = job({id: 5, startTime: 900, submitTime: 900});
	const first = read([running, waiting]);
	expect(first.map(({kind, leaseId}) => `${kind} ${leaseId}`)).toEqual(['granted 5', 'joined 1']);
	// Job 9 starts in the same second in which the other jobs start and end, but its event is read before theirs.
	const newcomer = job({id: 9, startTime: 1001, submitTime: 1001});
	const second = read([running, waiting, newcomer], first.at(-1)!.id);
	expect(second.map(({kind, leaseId}) => `${kind} ${leaseId}`)).toEqual(['granted 9']);
	const all = [
		{...running, state: 'ended', stateWord: 'COMPLETED', endTime: 1001} as const,
		{...waiting, state: 'holding', startTime: 1001} as const,
		newcomer,
	];
	const third = read(all, second.at(-1)!.id);
	expect(third.map(({kind, leaseId}) => `${kind} ${leaseId}`)).toEqual(['granted 1', 'ended 5']);
	expect(read(all, third.at(-1)!.id)).toEqual([]);
});
