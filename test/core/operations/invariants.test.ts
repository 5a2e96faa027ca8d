/**
Random commands of several people on the reference store. After every step: each GPU has at most one live lease, every ended lease has exactly
one usage record, no dead process holds a GPU, and nobody has changed another account's lease.
*/
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {acquireNow} from '../../../source/core/operations/acquire-now.js';
import {sendHeartbeat, findJobLease, type JobLease} from '../../../source/core/operations/job-lease.js';
import type {GpuRecord} from '../../../source/core/model/types.js';
import {ownerOf} from '../../../source/core/rules/leases/ownership.js';
import {extend, readStatus, release, reserve} from '../../../source/core/operations/reservations.js';
import {checkAuditLog} from '../../_helpers/store/audit-log.js';
import {createTestWorld, historyOf, person, type TestWorld} from '../../_helpers/world.js';
import {isLeased} from '../../_helpers/leased.js';

const people = ['alice', 'bob', 'carol'].map((name, index) => person(name, name, 1000 + index));
const gpuCount = 4;
const extensionSeconds = 600;

type Step =
	| {readonly do: 'reserve'; readonly who: number; readonly count: number; readonly minutes: number}
	| {readonly do: 'reserve-ids'; readonly who: number; readonly ids: readonly number[]; readonly minutes: number}
	/** `conflictMinutes`: the first commit conflicts, and the next follows this many minutes later. */
	| {
			readonly do: 'release' | 'extend';
			readonly who: number;
			readonly ids?: readonly number[];
			readonly conflictMinutes?: number;
	  }
	| {readonly do: 'pass'; readonly minutes: number}
	| {readonly do: 'run'; readonly who: number; readonly id: number; readonly pid: number}
	| {readonly do: 'die'; readonly pid: number}
	| {readonly do: 'beat'};

const who = fc.integer({min: 0, max: 2});
const ids = fc.uniqueArray(fc.integer({min: 0, max: gpuCount - 1}), {minLength: 1, maxLength: gpuCount});
const minutes = fc.integer({min: 1, max: 90});
const anyStep: fc.Arbitrary<Step> = fc.oneof(
	fc.record({do: fc.constant('reserve' as const), who, count: fc.integer({min: 1, max: gpuCount}), minutes}),
	fc.record({do: fc.constant('reserve-ids' as const), who, ids, minutes}),
	fc.record({
		do: fc.constantFrom('release' as const, 'extend' as const),
		who,
		ids: fc.option(ids, {nil: undefined}),
		conflictMinutes: fc.option(minutes, {nil: undefined}),
	}),
	fc.record({do: fc.constant('pass' as const), minutes: fc.integer({min: 0, max: 60})}),
	fc.record({
		do: fc.constant('run' as const),
		who,
		id: fc.integer({min: 0, max: gpuCount - 1}),
		pid: fc.integer({min: 10, max: 13}),
	}),
	fc.record({do: fc.constant('die' as const), pid: fc.integer({min: 10, max: 13})}),
	fc.record({do: fc.constant('beat' as const)}),
);

/** Takes a `run` lease with a live process, like the wrapper. */
async function startRun(world: TestWorld, {who: index, id, pid}: Extract<Step, {do: 'run'}>, leaseId: string) {
	const {snapshot} = await readStatus(world);
	if (snapshot.gpus[id]!.kind !== 'free') {
		return false;
	}

	world.processes.set(pid, 'alive');
	const answer = await acquireNow(
		{...world, host: {...world.host, self: {pid}}},
		{requester: people[index]!, count: 1, ids: [id], tenure: {type: 'run'}},
		leaseId,
	);
	return answer.kind === 'granted';
}

/** Returns the record of a GPU without its heartbeat, which any process may renew for a live job. */
const withoutHeartbeat = (record: GpuRecord) =>
	isLeased(record) ? {index: record.index, lease: {...record.lease, lastHeartbeat: undefined}} : record;

/** A lease id and a GPU index. */
type Held = `${string}/${number}`;

/** Carries out one step. Returns the holdings that began in it. */
async function act(
	world: TestWorld,
	step: Step,
	leaseId: string,
	wrappers: Map<string, JobLease>,
): Promise<readonly Held[]> {
	const requester = 'who' in step ? people[step.who]! : people[0]!;
	const selection =
		'ids' in step && step.ids ? {by: 'gpus' as const, ids: step.ids} : {by: 'label' as const, label: requester.label};
	switch (step.do) {
		case 'reserve':
		case 'reserve-ids': {
			const answer = await reserve(world, {
				requester,
				count: step.do === 'reserve' ? step.count : 1,
				ids: step.do === 'reserve-ids' ? step.ids : undefined,
				durationSeconds: step.minutes * 60,
			});
			return answer.kind === 'granted' ? answer.gpus.map((index): Held => `${answer.leaseId}/${index}`) : [];
		}

		case 'release': {
			await release(world, requester, selection);
			return [];
		}

		case 'extend': {
			const {extended, now} = await extend(world, requester, selection, {by: extensionSeconds});
			// An ended lease is not extended, however late the commit is.
			for (const {expiryTime} of extended) {
				expect(expiryTime - extensionSeconds).toBeGreaterThan(now);
			}

			return [];
		}

		case 'pass': {
			world.pass(step.minutes * 60);
			return [];
		}

		case 'run': {
			if (!(await startRun(world, step, leaseId))) {
				return [];
			}

			wrappers.set(leaseId, await findJobLease(world, leaseId));
			return [`${leaseId}/${step.id}`];
		}

		case 'die': {
			world.processes.set(step.pid, 'dead');
			for (const [id, {leases}] of wrappers) {
				// Dead processes send no heartbeats.
				if (leases.values().some(({lease: {holder}}) => holder?.pid === step.pid)) {
					wrappers.delete(id);
				}
			}

			return [];
		}

		case 'beat': {
			// Includes wrappers whose GPU has another lease now.
			for (const [id, hold] of wrappers) {
				wrappers.set(id, (await sendHeartbeat(world, hold)).jobLease);
			}

			return [];
		}
	}
}

test('the pool stays consistent after every step of random reserve, release, extend and run commands', async () => {
	/** How often each kind of step changed something, a commit conflicted, or a heartbeat was sent for an ended lease. */
	const met = {reserve: 0, 'reserve-ids': 0, release: 0, extend: 0, pass: 0, run: 0, die: 0, conflict: 0, late: 0};

	await fc.assert(
		fc.asyncProperty(fc.array(anyStep, {minLength: 1, maxLength: 40, size: 'max'}), async (steps) => {
			let conflictMinutes: number | undefined;
			const world: TestWorld = await createTestWorld({
				gpuCount,
				wrap: (store) => ({
					...store,
					async commit(plan) {
						if (conflictMinutes === undefined || !['released', 'extended'].includes(plan.event?.kind ?? '')) {
							return store.commit(plan);
						}

						world.pass(conflictMinutes * 60);
						conflictMinutes = undefined;
						met.conflict++;
						return 'conflict';
					},
				}),
			});
			const begun = new Set<Held>();
			const wrappers = new Map<string, JobLease>();
			for (const [stepIndex, current] of steps.entries()) {
				const before = (await readStatus(world)).snapshot.gpus;
				conflictMinutes = 'conflictMinutes' in current ? current.conflictMinutes : undefined;
				for (const hold of await act(world, current, `run-${stepIndex}`, wrappers)) {
					expect(before[Number(hold.split('/', 2)[1])]!.kind).toBe('free');
					begun.add(hold);
				}

				const {snapshot} = await readStatus(world);
				const live = snapshot.gpus.filter((record) => isLeased(record));
				if (current.do === 'beat') {
					met.late += wrappers.keys().some((id) => live.every(({lease}) => lease.leaseId !== id)) ? 1 : 0;
				} else {
					met[current.do] += JSON.stringify(snapshot.gpus) === JSON.stringify(before) ? 0 : 1;
				}

				// Every change was made to a lease of the acting account, or the lease expired at that time.
				const others = before
					.filter((record) => isLeased(record))
					.filter(({lease}) => (lease.expiryTime ?? Infinity) > snapshot.now)
					.filter(({lease}) =>
						current.do === 'beat'
							? !wrappers.has(lease.leaseId!)
							: 'who' in current && ownerOf(lease) !== people[current.who]!.account,
					);
				expect(others.map(({index}) => withoutHeartbeat(snapshot.gpus[index]!))).toEqual(
					others.map((record) => withoutHeartbeat(record)),
				);
				// After a read, no dead process holds a GPU.
				for (const {lease} of live) {
					expect(lease.holder && world.processes.get(lease.holder.pid)).not.toBe('dead');
					expect(lease.expiryTime ?? Infinity).toBeGreaterThan(snapshot.now);
				}

				// Each holding is either live or has exactly one usage record.
				const held = live.map(({index, lease}) => `${lease.leaseId}/${index}`);
				const ended = (await historyOf(world.store)).map(({leaseId, gpuId}) => `${leaseId}/${gpuId}`);
				expect([...held, ...ended].toSorted()).toEqual([...begun].toSorted());
				await checkAuditLog(world, snapshot);
			}
		}),
		{numRuns: 150},
	);
	// The test proves nothing if a kind of step never changes anything.
	expect(Math.min(...Object.values(met)), JSON.stringify(met)).toBeGreaterThan(0);
});
