/**
Requests that arrive late, twice or never, and answers that are lost. Each command must act once or not at all, and report which. The audit log
shows how often it acted, because each change is recorded in the same commit.
*/
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {createPool} from '../../../../source/core/operations/pool/create-pool.js';
import {acquireNow} from '../../../../source/core/operations/acquire-now.js';
import {drain, undrain} from '../../../../source/core/operations/pool/drain.js';
import {leaveQueue} from '../../../../source/core/operations/waiting/leave-queue.js';
import {extend, release, reserve} from '../../../../source/core/operations/reservations.js';
import type {Requester} from '../../../../source/core/model/types.js';
import {undoableOf, undoRelease} from '../../../../source/core/operations/undo.js';
import {CanhazgpuError} from '../../../../source/errors.js';
import {createLateStore, type Fate} from '../../../_helpers/store/late-store.js';
import {checkAuditLog} from '../../../_helpers/store/audit-log.js';
import {createTestWorld, historyOf, person, type TestWorld} from '../../../_helpers/world.js';
import {joinQueue} from '../../../../source/core/operations/waiting/join-queue.js';
import {isLeased} from '../../../_helpers/leased.js';

const commands = ['reserve', 'run', 'extend', 'release', 'undo', 'join', 'leave', 'drain', 'undrain'] as const;

type Step = {readonly command: (typeof commands)[number]; readonly choice: number; readonly fates: readonly Fate[]};

const fate: fc.Arbitrary<Fate> = fc.oneof(
	{weight: 3, arbitrary: fc.constant<Fate>({kind: 'prompt'})},
	fc.constant<Fate>({kind: 'answer lost'}),
	fc.constant<Fate>({kind: 'request lost'}),
	{weight: 3, arbitrary: fc.integer({min: 0, max: 12}).map((after): Fate => ({kind: 'late', after}))},
);

const step: fc.Arbitrary<Step> = fc.record({
	// `undo` needs an earlier reserve and release, and an empty queue, so these commands are more frequent.
	command: fc.constantFrom(...commands, 'reserve', 'release', 'release', 'undo', 'undo'),
	choice: fc.nat(7),
	// A command whose first read fails has done nothing and reports an error.
	fates: fc
		.tuple(fc.array(fate, {maxLength: 8}), fc.nat(3))
		.map(([fates, first]) => (first === 0 ? fates : [{kind: 'prompt'} as const, ...fates])),
});

/** Returns root with a different name for each step, so that the audit log shows which step acted. */
const actorOf = (index: number): Requester => person(`actor-${index}`, `actor-${index}`, 0);

type Answer =
	| {readonly kind: 'done'; readonly gpus?: readonly number[]; readonly leaseId?: string}
	| {readonly kind: 'nothing to do'};

const nothing: Answer = {kind: 'nothing to do'};

/** The state of the store before a step. */
type Before = {
	readonly leaseIds: readonly string[];
	readonly places: readonly string[];
	readonly out: readonly number[];
	readonly released: Parameters<typeof undoRelease>[2];
};

type Scene = {
	readonly world: TestWorld;
	readonly requester: Requester;
	readonly choice: number;
	/** An id that no other step uses. */
	readonly id: string;
	readonly before: Before;
};

const pick = <Item>(items: readonly Item[], choice: number): Item | undefined =>
	items[choice % Math.max(1, items.length)];

const done = (isDone: boolean, gpus?: readonly number[]): Answer => (isDone ? {kind: 'done', gpus} : nothing);

const leaseOf = ({before, choice}: Scene) => ({by: 'lease', leaseId: pick(before.leaseIds, choice) ?? 'none'}) as const;

async function take({world, requester, choice}: Scene, command: 'reserve' | 'run'): Promise<Answer> {
	const common = {requester, count: 1 + (choice % 2), ids: choice > 3 ? [choice % 4] : undefined};
	const answer =
		command === 'reserve'
			? await reserve(world, {...common, durationSeconds: 36_000})
			: await acquireNow(world, {...common, tenure: {type: 'run'}}, world.clock.uuid());
	return answer.kind === 'granted' ? {...answer, kind: 'done'} : nothing;
}

const acts: Readonly<Record<Step['command'], (scene: Scene) => Promise<Answer>>> = {
	reserve: async (scene) => take(scene, 'reserve'),
	run: async (scene) => take(scene, 'run'),
	async extend(scene) {
		const {extended} = await extend(scene.world, scene.requester, leaseOf(scene), {by: 7200});
		return done(extended.length > 0);
	},
	async release(scene) {
		const {released} = await release(scene.world, scene.requester, leaseOf(scene));
		return done(
			released.length > 0,
			released.map(({index}) => index),
		);
	},
	async undo({world, requester, before: {released}}) {
		return done(released.length > 0 && (await undoRelease(world, requester, released)).undone.length > 0);
	},
	async join({world, requester, id}) {
		const request = {requester, count: 4, tenure: {type: 'run'} as const};
		await joinQueue(world, {id, request, waitSeconds: undefined});
		return done(true);
	},
	async leave({world, requester, before, choice}) {
		return done((await leaveQueue(world, requester, pick(before.places, choice) ?? 'none')).kind === 'left');
	},
	async drain({world, requester, choice}) {
		await drain(world, requester, [choice % 4], undefined);
		return done(true);
	},
	async undrain({world, requester, before, choice}) {
		return done((await undrain(world, requester, [pick(before.out, choice) ?? 0])).length > 0);
	},
};

type Answered = {readonly answer?: Answer; readonly error?: unknown};

/** Returns how many times the command may have acted, judging by its answer or error. */
function timesOf({answer, error}: Answered): readonly number[] {
	if (answer !== undefined) {
		return [answer.kind === 'done' ? 1 : 0];
	}

	expect(error).toBeInstanceOf(CanhazgpuError);
	return (error as CanhazgpuError).hint?.includes('The change may have happened, or may still happen') === true
		? [0, 1]
		: [0];
}

test('each command takes effect as often as its answer or error says, even if messages are lost or late', async () => {
	/** How many times each command acted. */
	const worked = new Map<Step['command'], number>(commands.map((command) => [command, 0]));
	await fc.assert(
		fc.asyncProperty(fc.array(step, {minLength: 1, maxLength: 12, size: 'max'}), async (steps) => {
			const late = createLateStore();
			const world = await createTestWorld({wrap: late.wrap});
			const answered: Answered[] = [];
			let released: Before['released'] = [];
			for (const [stepIndex, each] of steps.entries()) {
				const {gpus, queue, drains} = await world.memory.read();
				const leases = gpus.filter((record) => isLeased(record));
				const before: Before = {
					leaseIds: [...new Set(leases.map(({lease}) => lease.leaseId!))],
					places: queue.map(({id}) => id),
					out: drains.keys().toArray(),
					released,
				};
				late.meet(each.fates);
				try {
					const scene: Scene = {
						world,
						requester: actorOf(stepIndex),
						choice: each.choice,
						id: `place-${stepIndex}`,
						before,
					};
					const answer = await acts[each.command](scene);
					answered.push({answer});
					if (each.command === 'release' && answer.kind === 'done') {
						const freed = leases.filter(({index}) => answer.gpus!.includes(index));
						released = undoableOf(freed);
					}

					if (answer.kind === 'done' && answer.leaseId !== undefined) {
						const held = (await world.memory.read()).gpus.filter(
							(record) => isLeased(record) && record.lease.leaseId === answer.leaseId,
						);
						expect(held.map(({index}) => index)).toEqual(answer.gpus);
					}
				} catch (error) {
					answered.push({error});
				}

				late.meet([]);
				world.pass(1);
			}

			await late.deliver();
			const audit = (await world.store.audit()).filter(({kind}) => kind !== 'refused');
			for (const [position, each] of answered.entries()) {
				const own = audit.filter(({account}) => account === actorOf(position).account);
				const {command} = steps[position]!;
				expect(timesOf(each), `${command} ${JSON.stringify(each)}`).toContain(own.length);
				worked.set(command, worked.get(command)! + own.length);
			}

			// A late record keeps its own time, so the audit log can be out of order.
			await checkAuditLog(world, await world.memory.read(), {isCrowd: true});
		}),
		{numRuns: 1000},
	);
	// The test proves nothing if a command never acts.
	expect(Math.min(...worked.values()), JSON.stringify([...worked])).toBeGreaterThan(0);
});

const lateByOne: Fate = {kind: 'late', after: 2};

test('extend adds two hours only once, even if its first request arrives late', async () => {
	const late = createLateStore();
	const world = await createTestWorld({wrap: late.wrap});
	await reserve(world, {requester: person('alice'), count: 1, durationSeconds: 3600});
	const end = world.now() + 3600 + 7200;
	late.meet([{kind: 'prompt'}, lateByOne]);
	const {extended} = await extend(world, person('alice'), {by: 'label', label: 'alice'}, {by: 7200});
	await late.deliver();
	expect(extended.map(({index, expiryTime}) => [index, expiryTime])).toEqual([[0, end]]);
	expect((await world.memory.read()).gpus[0]).toMatchObject({lease: {expiryTime: end}});
});

test('a request that arrives late cannot make a change that was reported as refused', async () => {
	const late = createLateStore();
	const world = await createTestWorld({gpuCount: 1, wrap: late.wrap});
	const bob = person('bob', 'bob', 1001);
	late.meet([{kind: 'prompt'}, {kind: 'late', after: 9}]);
	const others = {...world, store: world.memory};
	const asked = reserve(world, {requester: bob, count: 1, durationSeconds: 60});
	// Alice gets the GPU first, so bob's second attempt is refused. Then she releases the GPU, so that nothing stops his late first attempt.
	await reserve(others, {requester: person('alice'), count: 1, durationSeconds: 60});
	expect(await asked).toMatchObject({kind: 'refused'});
	await release(others, person('alice'), {by: 'label', label: 'alice'});
	world.memory.state.gpus.delete(0);
	await late.deliver();
	expect((await world.memory.read()).gpus[0]).toMatchObject({kind: 'free'});
});

test('the error after an unanswered request says that the change may have been made, and how to check for it', async () => {
	const late = createLateStore();
	const world = await createTestWorld({wrap: late.wrap});
	const away = Array.from({length: 200}, (): Fate => ({kind: 'request lost'}));
	const error = async (command: Promise<unknown>) =>
		(await command.catch((error_: unknown) => error_)) as CanhazgpuError;
	late.meet([{kind: 'prompt'}, {kind: 'late', after: 500}, ...away]);
	const first = await error(reserve(world, {requester: person('alice'), count: 1, durationSeconds: 60}));
	expect(first).toMatchObject({code: 'store-unreachable', exitCode: 4});
	expect(first.hint).toContain('see canhazgpu status before you try again');
	late.meet([{kind: 'prompt'}, {kind: 'late', after: 500}, ...away]);
	const request = {requester: person('alice'), count: 1, tenure: {type: 'run'} as const};
	const second = await error(joinQueue(world, {id: 'place', request, waitSeconds: undefined}));
	expect(second.hint).toContain('see canhazgpu queue before you try again');
});

test('a repeated request with the same lease id gets the GPUs that the first one got without an answer', async () => {
	const late = createLateStore();
	const world = await createTestWorld({gpuCount: 2, wrap: late.wrap});
	const request = {requester: person('alice'), count: 1, tenure: {type: 'run'} as const};
	const away = Array.from({length: 200}, (): Fate => ({kind: 'request lost'}));
	late.meet([{kind: 'prompt'}, {kind: 'answer lost'}, ...away]);
	await expect(acquireNow(world, request, 'lease')).rejects.toMatchObject({code: 'store-unreachable'});
	late.meet([]);
	expect(await acquireNow(world, request, 'lease')).toMatchObject({kind: 'granted', gpus: [0], leaseId: 'lease'});
	expect((await world.memory.read()).gpus).toMatchObject([{kind: 'leased'}, {kind: 'free'}]);
});

test.each([
	['made', false],
	['remade', true],
])('a pool is %s only once, even if a message is lost or late', async (reason, force) => {
	for (const kind of ['answer lost', 'late'] as const) {
		const late = createLateStore();
		const world = await createTestWorld({wrap: late.wrap});
		if (force) {
			await reserve(world, {requester: person('alice'), count: 2, durationSeconds: 60});
		} else {
			world.memory.state.pool = {gpuCount: undefined, provider: undefined, machine: undefined};
		}

		late.meet([{kind: 'prompt'}, {kind, after: 2}]);
		expect(await createPool(world, {gpuCount: 3, provider: 'fake', force})).toMatchObject({
			pool: {gpuCount: 3},
			droppedLeases: force ? 2 : 0,
		});
		await late.deliver();
		const made = (await world.store.audit()).filter((record) => record.kind === 'pool' && record.count === 3);
		expect(made.map((record) => record.reason)).toEqual([reason]);
		expect(await historyOf(world.store)).toHaveLength(force ? 2 : 0);
	}
});
