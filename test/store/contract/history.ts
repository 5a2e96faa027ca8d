import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {Subject} from '../contract.js';
import {collect, plan, usage} from '../samples.js';

const day = 86_400;

export function historyContract({store, harness}: Subject): void {
	const append = async (...records: ReadonlyArray<Parameters<typeof usage>[0]>) =>
		store().commit(plan({usage: records.map((record) => usage(record))}));
	const recent = Math.floor(Date.now() / 1000) - 10 * day;
	const ends = async (from: number, to: number) =>
		(await collect(store().history(from, to))).map(({endTime}) => endTime - recent);

	/** Appends usage records of a machine that was in use all the time, at twelve-day intervals. */
	const appendEveryTwelveDays = async (now: number) =>
		append(...Array.from({length: 10}, (_, index) => ({gpuId: 999, endTime: now - (1 + 12 * index) * day})));

	describe('the usage history', () => {
		test('returns a record as it was written', async () => {
			const record = usage({
				actualUser: 'alice',
				gpuId: 3,
				startTime: recent - 12.25,
				endTime: recent + 0.5,
				durationSeconds: 12.75,
				reservationType: 'manual',
				leaseId: 'lease-1',
				note: 'done',
				endReason: 'expired',
			});
			await append(record);
			expect(await collect(store().history(recent, recent + 1))).toEqual([record]);
		});

		test('returns the oldest records first, whatever the order of the commits', async () => {
			await append({endTime: recent + 30, gpuId: 1}, {endTime: recent + 10, gpuId: 2});
			await append({endTime: recent + 20, gpuId: 3});
			expect(await ends(recent, recent + 100)).toEqual([10, 20, 30]);
		});

		test('returns the records that ended in a range, including both limits', async () => {
			await append(...[0, 10, 10.5, 20, 20.5, 30].map((offset) => ({endTime: recent + offset})));
			expect(await ends(recent + 10, recent + 20)).toEqual([10, 10.5, 20]);
			expect(await ends(recent + 10.25, recent + 20.5)).toEqual([10.5, 20, 20.5]);
			expect(await ends(recent + 31, recent + 40)).toEqual([]);
			expect(await ends(recent + 20, recent + 10)).toEqual([]);
		});

		test('returns each record once, even if many have the same second', async () => {
			const records = Array.from({length: 2500}, (_, index) => ({
				gpuId: index,
				endTime: recent + (index < 1500 ? 5 : 6 + (index % 7)),
			}));
			await append(...records);
			const found = await collect(store().history(recent, recent + 100));
			expect(found.map(({gpuId}) => gpuId).toSorted((a, b) => a! - b!)).toEqual(records.map(({gpuId}) => gpuId));
			const seconds = found.map(({endTime}) => endTime);
			expect(seconds).toEqual(seconds.toSorted((a, b) => a - b));
		});

		test('is read completely while other records are added and removed', async () => {
			const now = Math.floor(Date.now() / 1000);
			const old = Array.from({length: 150}, (_, index) => ({endTime: now - 130 * day + index}));
			await appendEveryTwelveDays(now);
			await append(...old);
			await append(...Array.from({length: 3500}, (_, index) => ({gpuId: index, endTime: recent + index})));
			const seen: number[] = [];
			for await (const {gpuId} of store().history(recent, recent + 100_000)) {
				if (seen.length % 1000 === 500) {
					// Deletes a hundred old records, and appends one that precedes the current position.
					await append({gpuId: 9000 + seen.length, endTime: recent + 1});
				}

				seen.push(gpuId!);
			}

			const first = seen.filter((gpuId) => gpuId < 9000);
			expect(first).toEqual(Array.from({length: 3500}, (_, index) => index));
		});

		test('stores a record only once if it is appended twice', async () => {
			await append({endTime: recent});
			await append({endTime: recent});
			expect(await ends(recent, recent)).toEqual([0]);
		});

		test('deletes at most a hundred records older than 120 days with each append', async () => {
			const now = Math.floor(Date.now() / 1000);
			const old = Array.from({length: 250}, (_, index) => ({endTime: now - 130 * day + index}));
			await appendEveryTwelveDays(now);
			await append(...old, {endTime: now - 119 * day});
			const found = async () =>
				(await collect(store().history(0, now))).filter(({gpuId}) => gpuId !== 999).map(({endTime}) => now - endTime);
			expect(await found()).toHaveLength(151);
			await append({endTime: now - 2});
			const left = await found();
			expect(left).toHaveLength(52);
			expect(left[0]).toBe(130 * day - 200);
			await append({endTime: now - 1});
			await append({endTime: now});
			expect(await found()).toEqual([119 * day, 2, 1, 0]);
		});

		test('deletes no records while the clock is months ahead', async () => {
			const now = Math.floor(Date.now() / 1000);
			const before = Array.from({length: 120}, (_, index) => ({endTime: now - (95 + index) * day}));
			await append(...before);
			for (let job = 0; job < 5; job++) {
				await append({endTime: now - job * day, gpuId: job});
			}

			expect(await collect(store().history(0, now))).toHaveLength(125);
		});
	});

	describe("the time of a user's last use of each GPU", () => {
		const lastUsed = async (user: string) => [...(await store().read({user})).lastUsed].toSorted(([a], [b]) => a - b);

		test('is the time at which that user last released the GPU', async () => {
			await append(
				{gpuId: 0, endTime: recent},
				{gpuId: 0, endTime: recent + 20.5},
				{gpuId: 0, endTime: recent + 10},
				{gpuId: 12, endTime: recent + 5},
				{gpuId: 2, endTime: recent + 30, user: 'bob'},
				{gpuId: 3, endTime: recent + 30, user: 'bob', actualUser: 'alice'},
				{gpuId: 4, endTime: recent + 30, user: 'bob', note: '"user":"alice","gpu_id":4'},
			);
			expect(await lastUsed('alice')).toEqual([
				[0, recent + 20.5],
				[12, recent + 5],
			]);
			expect((await store().read()).lastUsed.size).toBe(0);
			expect(await lastUsed('nobody')).toEqual([]);
		});

		test.each(['<b>&amp;', '"', '\\', '%d+ .*', ' \u{2028}', '日本', '\u{0}'])(
			'is found for the user label %j',
			async (user) => {
				await append({user, gpuId: 5, endTime: recent}, {user: `${user}x`, gpuId: 6, endTime: recent});
				expect(await lastUsed(user)).toEqual([[5, recent]]);
			},
		);

		test('is found among the newest hundred records, in any order and number of commits', async () => {
			const users = ['alice', 'bob', 'count', 'a b 7 1'];
			const record = fc.record({
				user: fc.constantFrom(...users),
				gpuId: fc.nat(11),
				quarters: fc.nat(3),
				isLate: fc.boolean(),
			});
			await fc.assert(
				fc.asyncProperty(
					fc.array(fc.array(record, {maxLength: 40}), {minLength: 4, maxLength: 16}),
					async (commits) => {
						await harness().clear();
						const all: Array<{user: string; gpuId: number; endTime: number}> = [];
						for (const commit of commits) {
							const before = all.length;
							// Each record ends in its own second, so that it is clear which records are the newest.
							const records = commit.map(({user, gpuId, quarters, isLate}, index) => {
								const second = recent + 3 * (before + index) - (isLate ? 100 : 0);
								return {user, gpuId, endTime: second + quarters / 4};
							});
							await append(...records);
							all.push(...records);
							const newest = all.toSorted((a, b) => a.endTime - b.endTime).slice(-100);
							for (const user of users) {
								const last = new Map(
									newest.filter((one) => one.user === user).map(({gpuId, endTime}) => [gpuId, endTime]),
								);
								expect(await lastUsed(user)).toEqual([...last].toSorted(([a], [b]) => a - b));
							}
						}
					},
				),
				{numRuns: 10},
			);
		});

		test('is not looked for beyond the newest hundred records', async () => {
			await append({user: 'carol', gpuId: 1, endTime: recent});
			await append(...Array.from({length: 99}, (_, index) => ({endTime: recent + 1 + index})));
			expect(await lastUsed('carol')).toEqual([[1, recent]]);
			await append({endTime: recent + 200});
			expect(await lastUsed('carol')).toEqual([]);
		});
	});
}
