/** Grants to agents: their common limit, and when their reservations end. */
import {expect, test} from 'vitest';
import {extend, reserve} from '../../../source/core/operations/reservations.js';
import {acquire} from '../../../source/core/operations/waiting/acquire.js';
import {acquireNow, acquireOrRefuse} from '../../../source/core/operations/acquire-now.js';
import {changePolicy} from '../../../source/core/operations/pool/policy.js';
import {findJobLease, sendHeartbeat} from '../../../source/core/operations/job-lease.js';
import {renewJobLease} from '../../../source/core/operations/renew-job-lease.js';
import {readCurrent} from '../../../source/core/operations/transact.js';
import {holdingsIn} from '../../../source/core/rules/leases/holdings.js';
import {queueRows} from '../../../source/core/rules/queue/queue-rows.js';
import type {AcquireRequest} from '../../../source/core/rules/request/request.js';
import type {Progress} from '../../../source/core/operations/engine.js';
import {eventText} from '../../../source/format/events.js';
import {refusalMessage} from '../../../source/format/queue/refusal.js';
import {progressText} from '../../../source/format/queue/waiting-progress.js';
import {eventually} from '../../_helpers/eventually.js';
import {createTestWorld, person, type TestWorld} from '../../_helpers/world.js';

const root = person('root', 'root', 0);

const asked = (world: TestWorld, more: Partial<AcquireRequest> = {}): AcquireRequest => ({
	requester: person('alice'),
	count: 1,
	tenure: {type: 'run', timeLimitSeconds: 1800, holder: world.host.self},
	via: 'mcp claude-code',
	...more,
});

const heldByAgents = async (world: TestWorld): Promise<number> =>
	holdingsIn((await readCurrent(world)).gpus).filter(({lease}) => lease.via !== undefined).length;

test('concurrent requests from agents never exceed agents.max-gpus', async () => {
	const world = await createTestWorld({gpuCount: 6});
	await changePolicy(world, root, [{key: 'agents.max-gpus', value: '3'}]);
	const answers = await Promise.all(
		Array.from({length: 6}, async (_, index) =>
			acquireNow(world, asked(world, {requester: person(`agent${index}`)}), `lease ${index}`),
		),
	);
	expect(answers.filter(({kind}) => kind === 'granted').length).toBe(3);
	expect(await heldByAgents(world)).toBe(3);
	const refused = answers.find((answer) => answer.kind === 'refused')!;
	expect(refusalMessage(refused).message).toBe(
		'Not enough GPUs available. Requested: 1 (agents hold 3 of at most 3 GPUs together)',
	);
	expect((await reserve(world, {requester: person('bob'), count: 3, durationSeconds: 60})).kind).toBe('granted');
});

test('the event about a refusal names the limit of agents', async () => {
	const world = await createTestWorld({gpuCount: 4});
	await changePolicy(world, root, [{key: 'agents.max-gpus', value: '1'}]);
	await acquireNow(world, asked(world), 'first');
	expect((await acquireOrRefuse(world, asked(world), 'second')).kind).toBe('refused');
	expect((await world.store.audit()).map((entry) => eventText(entry)).at(-1)).toBe(
		'alice asked for 1 GPU and got nothing: 1 of at most 1 held by agents',
	);
});

test('an agent over the limit waits for another agent without blocking requests from people', async () => {
	const world = await createTestWorld({gpuCount: 3});
	await changePolicy(world, root, [{key: 'agents.max-gpus', value: '1'}]);
	await acquireNow(world, asked(world), 'first');
	const ended = new AbortController();
	const seen: Progress[] = [];
	const waiting = acquire(world, asked(world, {requester: person('erin')}), {
		waitSeconds: undefined,
		signal: ended.signal,
		onProgress(progress) {
			seen.push(progress);
		},
	});
	await eventually(() => seen.length > 0);
	expect(progressText(seen[0]!)).toContain('since agents hold 1 of at most 1 GPU together');
	const [row] = queueRows(await readCurrent(world));
	expect(row?.blockers).toMatchObject([{kind: 'lease', lease: {leaseId: 'first'}, gpus: [0]}]);
	expect((await reserve(world, {requester: person('bob'), count: 2, durationSeconds: 60})).kind).toBe('granted');
	ended.abort();
	expect(await waiting).toEqual({kind: 'gave-up', reason: 'aborted'});
	expect((await readCurrent(world)).queue).toEqual([]);
});

test("a person's request can take GPUs that an agent over the limit has collected", async () => {
	const world = await createTestWorld({gpuCount: 3});
	await changePolicy(world, root, [{key: 'agents.max-gpus', value: '3'}]);
	await reserve(world, {requester: person('bob'), ids: [1], count: 1, durationSeconds: 60_000});
	const ended = new AbortController();
	const waiting = acquire(world, asked(world, {count: 2, ids: [0, 1]}), {
		waitSeconds: undefined,
		signal: ended.signal,
		onProgress: () => undefined,
	});
	await eventually(async () => (await heldByAgents(world)) === 1);
	expect((await acquireNow(world, asked(world, {requester: person('erin'), ids: [2]}), 'other')).kind).toBe('granted');
	await changePolicy(world, root, [{key: 'agents.max-gpus', value: '2'}]);
	expect((await reserve(world, {requester: person('carol'), ids: [0], count: 1, durationSeconds: 60})).kind).toBe(
		'granted',
	);
	ended.abort();
	await waiting;
});

test("an agent's reservation ends at its expiry and is not restored by the next heartbeat", async () => {
	const world = await createTestWorld({gpuCount: 1});
	await acquireNow(world, asked(world), 'lease');
	const jobLease = await findJobLease(world, 'lease');
	world.pass(1799);
	expect(await heldByAgents(world)).toBe(1);
	world.pass(2);
	expect(await heldByAgents(world)).toBe(0);
	expect(await sendHeartbeat(world, jobLease)).toMatchObject({kind: 'lost', takenBack: []});
	expect(await heldByAgents(world)).toBe(0);
	const audit = await world.store.audit();
	expect(audit.at(-1)).toMatchObject({kind: 'expired', via: 'mcp claude-code', leaseId: 'lease'});
});

test("renewing an agent's reservation cannot exceed agents.max-duration since its start", async () => {
	const world = await createTestWorld({gpuCount: 1});
	await changePolicy(world, root, [{key: 'agents.max-duration', value: '1h'}]);
	await acquireNow(world, asked(world), 'lease');
	world.pass(600);
	const renewed = await renewJobLease(world, person('alice'), {
		jobLease: await findJobLease(world, 'lease'),
		seconds: 3000,
	});
	world.pass(2900);
	expect(await sendHeartbeat(world, renewed.jobLease)).toMatchObject({kind: 'held'});
	expect(await heldByAgents(world)).toBe(1);
	await expect(renewJobLease(world, person('alice'), {jobLease: renewed.jobLease, seconds: 200})).rejects.toThrow(
		'Agents may hold GPUs for at most 1h at a time',
	);
	world.pass(200);
	expect(await heldByAgents(world)).toBe(0);
	await expect(renewJobLease(world, person('alice'), {jobLease: renewed.jobLease, seconds: 60})).rejects.toThrow(
		'has already ended',
	);
});

test("extending all reservations to keep them moves an agent's end only as far as agents.max-duration allows", async () => {
	const world = await createTestWorld({gpuCount: 2});
	const endsIn = async (): Promise<ReadonlyArray<number | undefined>> => {
		const {gpus, now} = await readCurrent(world);
		return holdingsIn(gpus).map(({lease}) => Math.round(lease.expiryTime! - now));
	};

	const keep = async () =>
		extend(world, person('alice'), {by: 'label', label: 'alice'}, {atLeast: 7200, keepSeconds: 7200});
	await changePolicy(world, root, [{key: 'agents.max-duration', value: '1h'}]);
	await acquireNow(world, asked(world, {tenure: {type: 'manual', durationSeconds: 3000}}), 'of the agent');
	await reserve(world, {requester: person('alice'), count: 1, durationSeconds: 600});
	expect((await keep()).extended).toMatchObject([{index: 0}, {index: 1}]);
	expect(await endsIn()).toEqual([3600, 7200]);
	await changePolicy(world, root, [{key: 'agents.max-duration', value: '30m'}]);
	await keep();
	expect(await endsIn()).toEqual([3600, 7200]);
});

test("renewing an agent's reservation cannot move the end beyond limits.max-duration from now", async () => {
	const world = await createTestWorld({gpuCount: 1});
	await changePolicy(world, root, [{key: 'limits.max-duration', value: '1h'}]);
	await acquireNow(world, asked(world), 'lease');
	const jobLease = await findJobLease(world, 'lease');
	await expect(renewJobLease(world, person('alice'), {jobLease, seconds: 3601})).rejects.toThrow(
		'A reservation can end at most 1h from now',
	);
	await renewJobLease(world, person('alice'), {jobLease, seconds: 3600});
});

test('a reservation that is bound to a process needs no heartbeats, even if the request waited in the queue', async () => {
	const world = await createTestWorld({gpuCount: 1});
	const job = {...world.host.self, pid: 4711};
	const seen: Progress[] = [];
	world.processes.set(4711, 'alive');
	await reserve(world, {requester: person('bob'), count: 1, durationSeconds: 60});
	const waiting = acquire(world, asked(world, {via: undefined, tenure: {type: 'run', job}}), {
		waitSeconds: undefined,
		signal: new AbortController().signal,
		onProgress(progress) {
			seen.push(progress);
		},
	});
	await eventually(() => seen.length > 0);
	world.pass(61);
	expect((await waiting).kind).toBe('granted');
	const lease = async () => holdingsIn((await readCurrent(world)).gpus)[0]?.lease;
	expect(await lease()).toMatchObject({type: 'run', job: {pid: 4711}});
	expect((await lease())!.lastHeartbeat).toBeUndefined();
	world.pass(86_400);
	expect(await lease()).toBeDefined();
	world.processes.set(4711, 'dead');
	expect(await lease()).toBeUndefined();
});
