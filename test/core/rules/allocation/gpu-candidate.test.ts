/** Which GPUs have enough memory for a share, compared with a simple rule on random machines. */
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {GpuProcess, GpuReading, GpuRecord, Lease} from '../../../../source/core/model/types.js';
import {
	candidateOf,
	rankShares,
	committedMiB,
	roomFor,
} from '../../../../source/core/rules/allocation/gpu-candidate.js';
import {isOverused, usageOfShares} from '../../../../source/core/rules/usage/share-usage.js';
import {idleReading} from '../../../_helpers/world.js';

const share = (user: string, memoryMiB: number, part: Partial<Lease> = {}): Lease => ({
	user,
	actualUser: user,
	type: 'manual',
	startTime: 1,
	leaseId: user,
	memoryMiB,
	...part,
});

const shared = (index: number, ...shares: readonly Lease[]): GpuRecord => ({
	kind: 'shared',
	index,
	raw: '{}',
	shares,
	capacityMiB: 80_000,
});
const free = (index: number): GpuRecord => ({kind: 'free', index, raw: undefined});
const process = (
	user: string | undefined,
	memoryUsedMiB: number | undefined,
	part: Partial<GpuProcess> = {},
): GpuProcess => ({pid: 1, user, memoryUsedMiB, ...part});
const reading = (memoryUsedMiB: number | undefined, ...processes: readonly GpuProcess[]): GpuReading => ({
	...idleReading(0),
	memoryTotalMiB: 80_000,
	memoryUsedMiB,
	processes,
});
const limits = (memoryMiB: number, mostShares = 4) => ({memoryMiB, mostShares});

const sumOf = (values: readonly number[]): number => {
	let sum = 0;
	for (const value of values) {
		sum += value;
	}

	return sum;
};

describe('the reserved memory of a shared GPU', () => {
	test("is the sum of each share's requested or used memory, whichever is larger, and all other used memory", () => {
		const people = ['alice', 'bob', 'carol'];
		fc.assert(
			fc.property(
				fc.array(fc.tuple(fc.constantFrom('alice', 'bob'), fc.integer({min: 1, max: 30_000})), {maxLength: 4}),
				fc.array(fc.tuple(fc.option(fc.constantFrom(...people)), fc.integer({min: 0, max: 20_000})), {maxLength: 6}),
				fc.integer({min: 0, max: 5000}),
				(asked, used, besideMiB) => {
					const shares = asked.map(([user, memoryMiB], index) => share(user, memoryMiB, {leaseId: `${index}`}));
					const processes = used.map(([user, memoryMiB], pid) => process(user ?? undefined, memoryMiB, {pid}));
					const usedMiB = besideMiB + sumOf(used.map(([, memoryMiB]) => memoryMiB));
					const committed = committedMiB(shares, reading(usedMiB, ...processes))!;
					// Grouped by account, because a process may belong to any share of its account.
					const least = sumOf(
						people.map((user) => {
							const own = sumOf(shares.filter((one) => one.user === user).map((one) => one.memoryMiB!));
							const measured = sumOf(used.filter(([of]) => of === user).map(([, memoryMiB]) => memoryMiB));
							return Math.max(own, measured);
						}),
					);
					const unknownMiB = sumOf(used.filter(([user]) => user === null).map(([, memoryMiB]) => memoryMiB));
					expect(committed).toBeGreaterThanOrEqual(least + unknownMiB + besideMiB);
					expect(committed).toBeLessThanOrEqual(usedMiB + sumOf(shares.map((one) => one.memoryMiB!)));
				},
			),
		);
	});

	test('counts the request of a job that still loads, and the actual use of a job that exceeds its request', () => {
		const shares = [share('alice', 8000), share('bob', 16_000)];
		expect(committedMiB(shares, reading(500, process('alice', 100)))).toBe(24_000 + 400);
		expect(committedMiB(shares, reading(20_000, process('alice', 12_000), process('bob', 8000)))).toBe(28_000);
		expect(committedMiB(shares, reading(undefined))).toBeUndefined();
		// A tool that reports more memory for the processes than for the GPU has measured them at different times.
		expect(committedMiB(shares, reading(500, process('alice', 12_000)))).toBe(28_000);
	});

	test('counts a process toward the share of the job that started it', () => {
		const shares = [
			share('alice', 8000, {leaseId: '1', job: {pid: 10}}),
			share('alice', 8000, {leaseId: '2', job: {pid: 20}}),
			share('alice', 8000, {leaseId: '3'}),
		];
		const processes = [
			process('alice', 1, {pid: 10}),
			process('alice', 2, {pid: 21, parentPid: 20}),
			process('alice', 4, {pid: 22, parentPid: 21}),
			process('alice', 8, {pid: 99}),
			process('root', 16, {pid: 98}),
		];
		const usage = usageOfShares(shares, processes);
		expect(usage.shares.map(({memoryUsedMiB}) => memoryUsedMiB)).toEqual([1, 6, 8]);
		expect(usage.others.map(({pid}) => pid)).toEqual([98]);
		expect(usageOfShares(shares, undefined).shares.map(({memoryUsedMiB}) => memoryUsedMiB)).toEqual([
			undefined,
			undefined,
			undefined,
		]);
	});
});

describe('several shares of one account on a GPU', () => {
	const shares = [share('alice', 20_000, {leaseId: '1'}), share('alice', 16_000, {leaseId: '2'})];
	const usedBy = (...sizes: readonly number[]) =>
		usageOfShares(
			shares,
			sizes.map((mebibytes, index) => process('alice', mebibytes, {pid: 10 + index})),
		).shares.map(({memoryUsedMiB}) => memoryUsedMiB);

	test('are matched with processes of unknown origin so that each process fits its share, if possible', () => {
		expect(usedBy(12_000, 19_000)).toEqual([19_000, 12_000]);
		expect(usedBy(4000)).toEqual([4000, 0]);
		expect(usedBy(30_000)).toEqual([30_000, 0]);
		expect(committedMiB(shares, reading(31_000, process('alice', 12_000), process('alice', 19_000, {pid: 2})))).toBe(
			36_000,
		);
	});

	test('do not count as overused while the processes use much less than the shares requested', () => {
		fc.assert(
			fc.property(fc.array(fc.integer({min: 1, max: 8000}), {maxLength: 6}), (sizes) => {
				const used = usedBy(...sizes);
				const total = sizes.reduce((sum, size) => sum + size, 0);
				expect(used.reduce<number>((sum, value) => sum + value!, 0)).toBe(total);
				expect(usedBy(...sizes.toReversed())).toEqual(used);
				// Some share has room for the largest process, as long as the shares together have that much left.
				if (total <= 36_000 - 8000) {
					expect(shares.filter(({memoryMiB}, index) => isOverused({memoryMiB, memoryUsedMiB: used[index]}))).toEqual(
						[],
					);
				}
			}),
		);
	});
});

describe('the free memory for a share', () => {
	test("excludes the driver's memory and is limited by the recorded capacity", () => {
		const record = shared(0, share('alice', 30_000));
		const {shares} = record as Extract<GpuRecord, {kind: 'shared'}>;
		expect(roomFor(record, shares, limits(50_000), reading(0))).toMatchObject({kind: 'room', leftMiB: 0});
		expect(roomFor(record, shares, limits(50_001), reading(0))).toMatchObject({kind: 'no-room', freeMiB: 50_000});
		const kept = {...reading(0), memoryReservedMiB: 600};
		expect(roomFor(record, shares, limits(50_000), kept)).toMatchObject({kind: 'no-room', freeMiB: 49_400});
		const larger = {...reading(0), memoryTotalMiB: 90_000};
		expect(roomFor(record, shares, limits(50_001), larger)).toMatchObject({kind: 'no-room', freeMiB: 50_000});
	});

	test('is zero if the memory or its use is unknown, or if the GPU has the maximum number of shares', () => {
		expect(roomFor(free(0), [], limits(1), reading(undefined))).toEqual({kind: 'unknown-memory'});
		expect(roomFor(free(0), [], limits(1), {...reading(0), memoryTotalMiB: undefined})).toEqual({
			kind: 'unknown-memory',
		});
		expect(roomFor(free(0), [], limits(1), undefined)).toEqual({kind: 'unknown-memory'});
		const shares = [share('alice', 1), share('bob', 1)];
		expect(roomFor(shared(0, ...shares), shares, limits(1, 2), reading(0))).toEqual({kind: 'most-shares', shares});
	});
});

describe('candidateOf', () => {
	const none = () => false;

	test('never offers a whole GPU that is shared, or a share of a GPU that is leased as a whole', () => {
		const alone: GpuRecord = {kind: 'leased', index: 0, raw: '{}', lease: {...share('alice', 1), memoryMiB: undefined}};
		expect(candidateOf(alone, {share: limits(1), canTake: none, reading: reading(0)})).toMatchObject({kind: 'leased'});
		const record = shared(0, share('alice', 1));
		expect(candidateOf(record, {share: undefined, canTake: none, reading: reading(0)})).toMatchObject({kind: 'shared'});
	});

	test('never offers a memory share while a MIG instance is leased, even after MIG was disabled', () => {
		const record = shared(0, share('alice', 1, {memoryMiB: undefined, mig: {number: 0, uuid: 'MIG-0'}}));
		expect(candidateOf(record, {share: limits(1), canTake: none, reading: reading(0)})).toMatchObject({kind: 'shared'});
	});

	test('takes only as many held GPUs as needed, from the last queue entry first', () => {
		const shares = ['a', 'b', 'c'].map((id) => share(id, 20_000, {partialQueueId: id}));
		const record = shared(0, share('alice', 10_000), ...shares);
		const canTake = ({partialQueueId}: Lease): boolean => partialQueueId !== undefined && partialQueueId !== 'c';
		const offer = candidateOf(record, {share: limits(25_000, 9), canTake, reading: reading(0)});
		expect(offer.kind === 'candidate' && offer.takes.map(({lease}) => lease.user)).toEqual(['b']);
		expect(candidateOf(record, {share: limits(60_000), canTake, reading: reading(0)})).toMatchObject({kind: 'no-room'});
	});

	test('prefers the shared GPU with the least free memory', () => {
		const offers = [
			free(0),
			shared(1, share('alice', 10_000)),
			shared(2, share('alice', 50_000)),
			shared(3, share('alice', 70_000)),
		]
			.map((record) => candidateOf(record, {share: limits(20_000), canTake: none, reading: reading(0)}))
			.filter((answer) => answer.kind === 'candidate');
		expect(rankShares(offers).map(({index}) => index)).toEqual([2, 1]);
	});
});
