/**
Random queues of requests with different requirements on a machine with different GPUs. No entry that can be served is overtaken, and no request
blocks another.
*/
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {acquireNow} from '../../../../source/core/operations/acquire-now.js';
import {acquire} from '../../../../source/core/operations/waiting/acquire.js';
import {progressText} from '../../../../source/format/queue/waiting-progress.js';
import {refusalMessage} from '../../../../source/format/queue/refusal.js';
import {release} from '../../../../source/core/operations/reservations.js';
import {readCurrent} from '../../../../source/core/operations/transact.js';
import {joinQueue} from '../../../../source/core/operations/waiting/join-queue.js';
import {wantedOf} from '../../../../source/core/rules/queue/eligible.js';
import type {Wanted} from '../../../../source/core/rules/request/request.js';
import type {GpuReading, Need, Snapshot} from '../../../../source/core/model/types.js';
import {checkAuditLog} from '../../../_helpers/store/audit-log.js';
import {createTestWorld, observationOf, person} from '../../../_helpers/world.js';
import {mixedBox} from '../../../_helpers/mixed-box.js';
import {isLeased} from '../../../_helpers/leased.js';
import {entriesOf, requestOf, settle} from './_settle.js';

const gpuCount = mixedBox.length;
const indexes = Array.from({length: gpuCount}, (_, index) => index);

const anyNeed: fc.Arbitrary<Need | undefined> = fc.constantFrom<Need | undefined>(
	undefined,
	undefined,
	{models: ['a100']},
	{models: ['l40s']},
	{minMemoryMiB: 60_000},
	{minCompute: '8.9'},
	{sameModel: false},
	{minMemoryMiB: 40_000},
);
const anyWanted: fc.Arbitrary<Wanted> = fc.oneof(
	{weight: 4, arbitrary: fc.record({count: fc.integer({min: 1, max: 4}), need: anyNeed})},
	{
		weight: 1,
		arbitrary: fc.nat(gpuCount - 1).map((id) => ({count: 1, ids: [id]})),
	},
);

type Step =
	| {readonly do: 'join' | 'newcomer'; readonly wanted: Wanted}
	| {readonly do: 'give back'; readonly gpu: number}
	| {readonly do: 'blind'; readonly gpu: number; readonly isBlind: boolean};

const anyStep: fc.Arbitrary<Step> = fc.oneof(
	{weight: 4, arbitrary: fc.record({do: fc.constant('join' as const), wanted: anyWanted})},
	{weight: 2, arbitrary: fc.record({do: fc.constant('newcomer' as const), wanted: anyWanted})},
	{weight: 4, arbitrary: fc.record({do: fc.constant('give back' as const), gpu: fc.nat(gpuCount - 1)})},
	{
		weight: 1,
		arbitrary: fc.record({do: fc.constant('blind' as const), gpu: fc.nat(gpuCount - 1), isBlind: fc.boolean()}),
	},
);

/** Returns all sets of GPUs that serve a request, by simple rules. */
function setsFor({count, ids, need = {}}: Wanted, box: readonly GpuReading[]): ReadonlyArray<readonly number[]> {
	const {minMemoryMiB = 0, models, minCompute = '0', sameModel} = need;
	const fits = ({name = '', memoryTotalMiB = -1, computeCapability = '-1'}: GpuReading): boolean =>
		(need.minMemoryMiB === undefined || memoryTotalMiB >= minMemoryMiB) &&
		(models === undefined ||
			models.some((model) =>
				name
					.toLowerCase()
					.split(/[\s\-]/v)
					.includes(model),
			)) &&
		(need.minCompute === undefined || Number(computeCapability) >= Number(minCompute));
	const sets = (missing: number, from: number): ReadonlyArray<readonly number[]> =>
		missing === 0
			? [[]]
			: indexes
					.filter((index) => index >= from)
					.flatMap((first) => sets(missing - 1, first + 1).map((rest) => [first, ...rest]));
	const possible = ids === undefined ? sets(count, 0) : [ids];
	return possible.filter(
		(set) =>
			set.every((index) => fits(box[index]!)) &&
			(ids !== undefined ||
				count === 1 ||
				sameModel === false ||
				new Set(set.map((index) => box[index]!.name ?? 'unknown')).size === 1),
	);
}

/** Returns the GPUs that are free or held by these waiting entries. */
const looseGpus = ({gpus}: Snapshot, holders: readonly string[]): readonly number[] =>
	gpus
		.filter(
			(record) => record.kind === 'free' || (isLeased(record) && holders.includes(record.lease.partialQueueId ?? '')),
		)
		.map(({index}) => index);

/** Checks that no entry waits although GPUs that nobody claims could serve it. */
function checkNobodyIsHeldUp(snapshot: Snapshot, box: readonly GpuReading[]): void {
	const entries = entriesOf(snapshot);
	const wantedBefore = new Set<number>();
	for (const [position, {entry}] of entries.entries()) {
		const sets = setsFor(wantedOf(entry), box);
		const there = new Set(
			looseGpus(
				snapshot,
				entries.slice(position).map(({id}) => id),
			).filter((index) => !wantedBefore.has(index)),
		);
		const served = sets.find((set) => set.every((index) => there.has(index)));
		expect(served, `${entry.id} could have ${served?.join(',')}`).toBeUndefined();
		for (const index of sets.flat()) {
			wantedBefore.add(index);
		}
	}
}

/** Checks that later entries got nothing that an earlier entry could have used. */
function checkNobodyIsOvertaken(before: Snapshot, after: Snapshot, box: readonly GpuReading[]): void {
	const earlier = entriesOf(before);
	for (const {id, entry} of entriesOf(after)) {
		const position = earlier.findIndex((record) => record.id === id);
		const behind = position === -1 ? [] : earlier.slice(position + 1).map((record) => record.id);
		const wanted = new Set(setsFor(wantedOf(entry), box).flat());
		const lost = after.gpus.filter(
			(record) =>
				isLeased(record) &&
				wanted.has(record.index) &&
				behind.some((other) => record.lease.leaseId === `lease-${other}`) &&
				before.gpus[record.index]!.raw !== record.raw,
		);
		expect(
			lost.map(({index}) => index),
			`${id} is overtaken`,
		).toEqual([]);
	}
}

test('random queue entries with different requirements are all served in order', async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(anyStep, {minLength: 1, maxLength: 16, size: 'max'}), async (steps) => {
			const world = await createTestWorld({gpuCount});
			const blind = new Set<number>();
			const boxNow = (): readonly GpuReading[] =>
				mixedBox.map((reading) =>
					blind.has(reading.index)
						? {...reading, name: undefined, memoryTotalMiB: undefined, computeCapability: undefined}
						: reading,
				);
			world.see(() => observationOf(boxNow()));
			for (const [stepIndex, step] of steps.entries()) {
				const before = await readCurrent(world);
				switch (step.do) {
					case 'join': {
						await joinQueue(world, {
							id: `entry-${stepIndex}`,
							request: requestOf(`user${stepIndex}`, step.wanted),
							waitSeconds: undefined,
							observation: await world.gpus.observe(),
						});
						break;
					}

					case 'newcomer': {
						const answer = await acquireNow(world, requestOf('newcomer', step.wanted), `newcomer-${stepIndex}`);
						const claimed = new Set(entriesOf(before).flatMap(({entry}) => setsFor(wantedOf(entry), boxNow()).flat()));
						expect(answer.kind === 'granted' ? answer.gpus.filter((index) => claimed.has(index)) : []).toEqual([]);
						break;
					}

					case 'give back': {
						const record = before.gpus[step.gpu]!;
						if (isLeased(record) && record.lease.partialQueueId === undefined) {
							const {leaseId = ''} = record.lease;
							await release(world, person('root', 'root', 0), {by: 'gpus', ids: [step.gpu]});
							expect(leaseId).not.toBe('');
						}

						break;
					}

					case 'blind': {
						if (step.isBlind) {
							blind.add(step.gpu);
						} else {
							blind.delete(step.gpu);
						}

						break;
					}
				}

				const rested = await readCurrent(world);
				await settle(world);
				const after = await readCurrent(world);
				// A GPU with unknown readings may or may not be able to serve the entry.
				const known = boxNow();
				if (blind.size === 0) {
					checkNobodyIsHeldUp(after, known);
				}

				checkNobodyIsOvertaken(rested, after, known);
				for (const record of after.gpus.filter(isLeased)) {
					expect(record.lease.leaseId).toBeDefined();
				}

				await checkAuditLog(world, after);
			}

			blind.clear();
			for (let round = 0; entriesOf(await readCurrent(world)).length > 0; round++) {
				expect(round).toBeLessThan(steps.length + 2);
				await release(world, person('root', 'root', 0), {by: 'gpus', ids: indexes});
				await settle(world);
			}
		}),
		{numRuns: 60},
	);
});

test('a queue entry gets only GPUs that meet its requirements', async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(anyWanted, {minLength: 1, maxLength: 8}), async (wishes) => {
			const world = await createTestWorld({gpuCount});
			world.see(() => observationOf(mixedBox));
			for (const [wishIndex, wanted] of wishes.entries()) {
				await joinQueue(world, {
					id: `entry-${wishIndex}`,
					request: requestOf(`user${wishIndex}`, wanted),
					waitSeconds: undefined,
					observation: await world.gpus.observe(),
				});
			}

			await settle(world);
			const snapshot = await readCurrent(world);
			for (const [wishIndex, wanted] of wishes.entries()) {
				const got = snapshot.gpus
					.filter(isLeased)
					.filter(({lease}) => lease.leaseId === `lease-entry-${wishIndex}` && lease.partialQueueId === undefined)
					.map(({index}) => index);
				const served = got.length === 0 || setsFor(wanted, mixedBox).some((set) => set.join(',') === got.join(','));
				expect(served, `${JSON.stringify(wanted)} got ${got.join(',')}`).toBe(true);
			}
		}),
		{numRuns: 40},
	);
});

test('a queue entry waits while it is unknown whether any GPU meets its requirement', async () => {
	const world = await createTestWorld({gpuCount});
	const isKnown = () => world.scans() > 3;
	world.see(() =>
		observationOf(mixedBox.map((reading) => (isKnown() ? reading : {...reading, memoryTotalMiB: undefined}))),
	);
	const words: string[] = [];
	const request = requestOf('alice', {count: 1, need: {minMemoryMiB: 60_000}});
	const refused = await acquireNow(world, request, 'now');
	expect(refused).toMatchObject({kind: 'refused', available: 0});
	expect(refused.kind === 'refused' && refusalMessage(refused).message).toContain('8 GPUs that may not qualify');
	const answer = await acquire(world, request, {
		waitSeconds: undefined,
		signal: new AbortController().signal,
		onProgress(progress) {
			words.push(progressText(progress));
		},
	});
	expect(answer).toMatchObject({kind: 'granted', gpus: [0]});
	expect(words).toEqual([
		expect.stringMatching(
			/^Waiting for 1 GPU with 62\.9G or more: position 1 of 1.*since GPU 0 has unknown memory, .* and 4 more$/v,
		) as string,
	]);
});
