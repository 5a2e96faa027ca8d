import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {acquireNow} from '../../../../source/core/operations/acquire-now.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {joinQueue} from '../../../../source/core/operations/waiting/join-queue.js';
import {entryHeartbeatSeconds} from '../../../../source/core/rules/leases/liveness.js';
import {planEntryHeartbeat} from '../../../../source/core/rules/queue/queue.js';
import {queueRows} from '../../../../source/core/rules/queue/queue-rows.js';
import {stuckText} from '../../../../source/format/queue/why.js';
import {testHost} from '../../../_helpers/machine/host.js';
import {createTestWorld, type TestWorld} from '../../../_helpers/world.js';
import {entriesOf} from './_settle.js';
import {alice, bob, wants} from './_waiting.js';

/** The longest time that an entry without heartbeats can block others: two heartbeat intervals, and time to notice it. */
const patienceSeconds = 2 * entryHeartbeatSeconds + 20;

/** Sends the heartbeat of an entry, as its process does every 30 seconds. */
async function beat(world: TestWorld, id: string): Promise<void> {
	const snapshot = await readCurrent(world);
	const own = entriesOf(snapshot).find((record) => record.id === id);
	expect(own).toBeDefined();
	expect(await world.store.commit(planEntryHeartbeat(snapshot, own!))).toBe('done');
}

/** Advances the time while other processes read the pool every few seconds and these entries send heartbeats. */
async function passWith(world: TestWorld, seconds: number, answering: readonly string[] = []): Promise<void> {
	for (let passed = 0; passed < seconds; passed += 5) {
		world.pass(5);
		await readCurrent(world);
		if (passed % entryHeartbeatSeconds === 0) {
			for (const id of answering) {
				await beat(world, id);
			}
		}
	}
}

const join = async (world: TestWorld, id: string, count: number): Promise<void> => {
	await joinQueue(world, {id, request: wants({count}), waitSeconds: undefined});
};

const take = async (world: TestWorld, leaseId: string) => acquireNow(world, wants({requester: alice}), leaseId);

describe('a queue entry whose process is alive but sends no heartbeats', () => {
	test('blocks no other request after two heartbeat intervals, but keeps its position', async () => {
		const world = await createTestWorld({gpuCount: 2});
		await join(world, 'silent', 2);
		expect(await take(world, 'early')).toMatchObject({kind: 'refused'});
		await passWith(world, patienceSeconds);
		expect(await take(world, 'late')).toMatchObject({kind: 'granted'});
		const snapshot = await readCurrent(world);
		expect(snapshot.queue.map(({id}) => id)).toEqual(['silent']);
		expect(stuckText(queueRows(snapshot)[0]!)).toMatch(
			/^does not answer: its process has shown no sign of life for 1m\d*s?; others go first$/v,
		);
	});

	test('has a claim on GPUs again after its next heartbeat', async () => {
		const world = await createTestWorld({gpuCount: 2});
		await join(world, 'silent', 2);
		await passWith(world, patienceSeconds);
		await beat(world, 'silent');
		expect(await take(world, 'late')).toMatchObject({kind: 'refused'});
		expect(stuckText(queueRows(await readCurrent(world))[0]!)).toBeUndefined();
	});

	test("still has a claim on GPUs after a jump of the store's clock", async () => {
		const world = await createTestWorld({gpuCount: 2});
		await join(world, 'waiting', 2);
		await passWith(world, 20);
		world.jump(3600);
		await readCurrent(world);
		world.pass(5);
		expect(await take(world, 'overtaking')).toMatchObject({kind: 'refused'});
	});

	test('still has a claim on GPUs if the monotonic clock cannot be read', async () => {
		const world = await createTestWorld({gpuCount: 2});
		const blind: TestWorld = {
			...world,
			host: testHost({...world.host, monotonic: {id: 'boot-1', seconds: () => undefined}, liveness: () => ['alive']}),
		};
		await join(blind, 'waiting', 2);
		world.pass(patienceSeconds);
		await readCurrent(blind);
		world.pass(patienceSeconds);
		expect(await take(blind, 'overtaking')).toMatchObject({kind: 'refused'});
	});
});

type Step =
	| {readonly kind: 'pass'; readonly seconds: number}
	| {readonly kind: 'jump'; readonly seconds: number}
	| {readonly kind: 'take'};

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
	fc.oneof(
		fc.record({kind: fc.constant('pass' as const), seconds: fc.integer({min: 1, max: 120})}),
		fc.record({kind: fc.constant('jump' as const), seconds: fc.integer({min: -600, max: 600})}),
		fc.constant({kind: 'take' as const}),
	),
	{minLength: 1, maxLength: 12},
);

test('a queue entry with heartbeats is never overtaken, whatever the clocks show', async () => {
	await fc.assert(
		fc.asyncProperty(steps, fc.boolean(), async (history, isAnswering) => {
			const world = await createTestWorld({gpuCount: 1});
			await join(world, 'first', 1);
			for (const step of history) {
				if (step.kind === 'pass') {
					await passWith(world, step.seconds, isAnswering ? ['first'] : []);
				} else if (step.kind === 'jump') {
					world.jump(step.seconds);
				} else if (isAnswering) {
					expect(await take(world, 'newcomer')).toMatchObject({kind: 'refused'});
				}
			}

			// A heartbeat from the future counts until the store's clock has caught up with it.
			const backSeconds = history.reduce(
				(sum, step) => sum + (step.kind === 'jump' ? Math.max(0, -step.seconds) : 0),
				0,
			);
			await passWith(world, patienceSeconds + entryHeartbeatSeconds + backSeconds, isAnswering ? ['first'] : []);
			expect(await acquireNow(world, wants({requester: bob}), 'last')).toMatchObject({
				kind: isAnswering ? 'refused' : 'granted',
			});
		}),
		{numRuns: 100},
	);
});
