/** Random histories of GPUs that are leased alone or shared. No lease is lost or counted twice, and the shares fit. */
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {emptyPlan} from '../../../../source/core/model/plan.js';
import type {Lease} from '../../../../source/core/model/types.js';
import {planHoldings, type HoldingChange} from '../../../../source/core/rules/leases/holding-changes.js';
import {holdingsIn, holdingsOn} from '../../../../source/core/rules/leases/holdings.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {extend, release} from '../../../../source/core/operations/reservations.js';
import {createTestWorld, historyOf, person, startTime, type TestWorld} from '../../../_helpers/world.js';

const gpuCount = 2;
const capacityMiB = 100;
const people = ['alice', 'bob'];

const share = (user: string, memoryMiB: number, part: Partial<Lease> = {}): Lease => ({
	user,
	actualUser: user,
	type: 'manual',
	startTime,
	expiryTime: startTime + 600,
	leaseId: `${user}-${memoryMiB}`,
	memoryMiB,
	...part,
});

/** Grants the given leases, one per GPU. */
async function grant({store}: TestWorld, index: number, ...leases: readonly Lease[]): Promise<void> {
	const record = (await store.read()).gpus[index]!;
	const changes = leases.map((lease): HoldingChange => ({kind: 'add', record, lease, capacityMiB}));
	await store.commit({...emptyPlan, ...planHoldings(changes)});
}

const anyStep = fc.record({
	does: fc.constantFrom('grant', 'grant-alone', 'end', 'extend', 'pass', 'release'),
	gpu: fc.nat(gpuCount - 1),
	who: fc.constantFrom(...people),
	memoryMiB: fc.integer({min: 1, max: 60}),
	minutes: fc.integer({min: 1, max: 30}),
	place: fc.nat(5),
});

test('random grants and ends of shares never lose a share or exceed the memory of a GPU', async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(anyStep, {maxLength: 30}), async (steps) => {
			const world = await createTestWorld({gpuCount});
			/** The expected end of each lease, by lease id. */
			const expected = new Map<string, {readonly gpu: number; end: number}>();
			let granted = 0;
			for (const {does, gpu, who, memoryMiB, minutes, place: position} of steps) {
				const {gpus} = await readCurrent(world);
				for (const [id, {end}] of expected) {
					if (end <= world.now()) {
						expected.delete(id);
					}
				}

				const here = holdingsOn(gpus[gpu]);
				const free = here.reduce((sum, {lease}) => sum - (lease.memoryMiB ?? capacityMiB), capacityMiB);
				const end = Math.floor(world.now()) + minutes * 60;
				const leaseId = `lease-${granted}`;

				switch (does) {
					case 'grant':
					case 'grant-alone': {
						const isAlone = does === 'grant-alone';
						if (isAlone ? here.length === 0 : free >= memoryMiB) {
							granted++;
							const part = {leaseId, expiryTime: end, ...(isAlone && {memoryMiB: undefined})};
							await grant(world, gpu, share(who, memoryMiB, part));
							expected.set(leaseId, {gpu, end});
						}

						break;
					}

					case 'end': {
						const {lease} = here[position] ?? {};
						if (lease !== undefined) {
							await release(world, person(lease.user), {by: 'lease', leaseId: lease.leaseId!});
							expected.delete(lease.leaseId!);
						}

						break;
					}

					case 'extend': {
						const {lease} = here[position] ?? {};
						if (lease !== undefined) {
							await extend(world, person(lease.user), {by: 'lease', leaseId: lease.leaseId!}, {by: minutes * 60});
							expected.get(lease.leaseId!)!.end += minutes * 60;
						}

						break;
					}

					case 'release': {
						// A release by label ends all reservations of the account, so one plan can end several shares of a GPU.
						const {released} = await release(world, person(who), {by: 'label', label: who});
						for (const {lease} of released) {
							expected.delete(lease.leaseId!);
						}

						break;
					}

					case 'pass': {
						world.pass(minutes * 30);
					}
				}

				const after = await readCurrent(world);

				const held = holdingsIn(after.gpus);
				expect(held.map(({index, lease}) => `${lease.leaseId}@${index} ${lease.expiryTime}`).toSorted()).toEqual(
					[...expected]
						.filter(([, {end: ends}]) => ends > world.now())
						.map(([id, of]) => `${id}@${of.gpu} ${of.end}`)
						.toSorted(),
				);
				for (const record of after.gpus) {
					const asked = holdingsOn(record).map(({lease}) => lease.memoryMiB);
					expect(record.kind).toBe(asked.length === 0 ? 'free' : asked[0] === undefined ? 'leased' : 'shared');
					expect(asked.reduce<number>((sum, memory = capacityMiB) => sum + memory, 0)).toBeLessThanOrEqual(capacityMiB);
				}
			}

			// Each ended lease has exactly one usage record, which contains its request.
			const over = (await historyOf(world.store)).map(({leaseId}) => leaseId);
			const live = holdingsIn((await readCurrent(world)).gpus).map(({lease}) => lease.leaseId);
			expect([...over, ...live].toSorted()).toEqual(Array.from({length: granted}, (_, n) => `lease-${n}`).toSorted());
		}),
		{numRuns: 60},
	);
});

test('a plan that changes several shares of one GPU writes the record of the GPU once', async () => {
	const world = await createTestWorld({gpuCount: 1});
	const silent = share('bob', 20, {
		type: 'run',
		expiryTime: undefined,
		lastHeartbeat: startTime,
		machine: world.host.machineId,
		bootId: world.host.bootId,
		holder: {pid: 77},
	});
	await grant(
		world,
		0,
		share('alice', 10),
		silent,
		share('carol', 30, {expiryTime: startTime + 600}),
		share('dan', 40, {expiryTime: startTime + 6000}),
	);
	world.pass(700);
	const {gpus} = await readCurrent(world);
	expect(gpus[0]).toMatchObject({
		kind: 'shared',
		capacityMiB,
		shares: [{user: 'bob', lastHeartbeat: startTime + 700}, {user: 'dan'}],
	});
	expect((await historyOf(world.store)).map(({user, memoryMiB}) => [user, memoryMiB])).toEqual([
		['alice', 10],
		['carol', 30],
	]);
	world.processes.set(77, 'dead');
	world.pass(6000);
	expect((await readCurrent(world)).gpus[0]).toMatchObject({kind: 'free', ended: {leaseId: 'dan-40'}});
});

test("release and extend by GPU id change only the caller's own share", async () => {
	const world = await createTestWorld({gpuCount: 1});
	await grant(world, 0, share('alice', 10), share('bob', 20), share('root', 5));
	const byGpu = {by: 'gpus', ids: [0]} as const;
	const extended = await extend(world, person('bob'), byGpu, {by: 60});
	expect(extended).toMatchObject({extended: [{index: 0, expiryTime: startTime + 660}], notYours: []});
	const foreign = await release(world, person('carol'), byGpu);
	expect(foreign.released).toEqual([]);
	expect(foreign.notYours.map(({lease}) => lease.user)).toEqual(['alice', 'bob', 'root']);
	const released = await release(world, person('alice'), byGpu);
	expect(released.released.map(({lease}) => lease.user)).toEqual(['alice']);
	const root = person('root', 'root', 0);
	expect((await release(world, root, byGpu)).released.map(({lease}) => lease.user)).toEqual(['root']);
	expect((await release(world, root, byGpu)).released.map(({lease}) => lease.user)).toEqual(['bob']);
	expect((await world.store.read()).gpus[0]?.kind).toBe('free');
});
