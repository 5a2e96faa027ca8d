import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {UsageRecord} from '../../../../source/core/model/types.js';
import {occupancyOf} from '../../../../source/core/operations/history/occupancy.js';
import {reserve} from '../../../../source/core/operations/reservations.js';
import {collectOccupancy, holdersByColumn} from '../../../../source/core/rules/pool/occupancy.js';
import {createTestWorld, person} from '../../../_helpers/world.js';

const window = {from: 100_000, to: 140_000};
const partSeconds = 100;

const anyRecord: fc.Arbitrary<UsageRecord> = fc
	.record({
		user: fc.constantFrom('alice', 'bob', 'carol'),
		gpuId: fc.nat(2),
		startTime: fc.integer({min: window.from - 2000, max: window.to + 1000}),
		length: fc.oneof(fc.integer({min: 0, max: 90}), fc.integer({min: 0, max: 5000})),
	})
	.map(({length, startTime, ...rest}) => ({
		...rest,
		startTime,
		endTime: startTime + length,
		durationSeconds: length,
		reservationType: 'run',
	}));

test('occupancy spans cover every reserved second and count each lease once', () => {
	fc.assert(
		fc.property(fc.array(anyRecord, {maxLength: 60}), (records) => {
			const collector = collectOccupancy(window);
			for (const record of records) {
				collector.add(record);
			}

			const spans = collector.spans();
			const inside = records.filter(
				({startTime, endTime}) => Math.min(endTime, window.to) > Math.max(startTime, window.from),
			);
			expect(spans.reduce((sum, {leaseCount}) => sum + leaseCount, 0)).toBe(inside.length);
			for (const {gpuId, startTime, endTime} of inside) {
				const from = Math.max(startTime, window.from);
				const to = Math.min(endTime, window.to);
				expect(spans.some((span) => span.gpuId === gpuId && span.startTime <= from && span.endTime >= to)).toBe(true);
			}

			for (const {startTime, endTime} of spans) {
				expect(startTime >= window.from && endTime <= window.to && startTime < endTime).toBe(true);
			}

			// Two short spans of a GPU are at least a fraction of the window apart.
			for (const [index, span] of spans.entries()) {
				const isShort = ({startTime, endTime, leaseCount}: typeof span) =>
					leaseCount > 1 || endTime - startTime < partSeconds;
				const before = spans.slice(0, index).findLast((other) => other.gpuId === span.gpuId && isShort(other));
				if (before !== undefined && isShort(span)) {
					expect(span.startTime - before.endTime).toBeGreaterThanOrEqual(partSeconds);
				}
			}
		}),
	);
});

test('an occupancy span combines consecutive short jobs and names the longest holder', () => {
	const collector = collectOccupancy(window);
	const jobs = [
		['alice', 10],
		['bob', 30],
		['alice', 15],
	] as const;
	for (const [index, [user, seconds]] of jobs.entries()) {
		const startTime = 120_000 + index * 60;
		collector.add({
			user,
			gpuId: 0,
			startTime,
			endTime: startTime + seconds,
			durationSeconds: seconds,
			reservationType: 'run',
			note: 'sweep',
		});
	}

	expect(collector.spans()).toEqual([
		{
			gpuId: 0,
			user: 'bob',
			account: 'bob',
			type: 'run',
			startTime: 120_000,
			endTime: 120_135,
			leaseCount: 3,
			isLive: false,
		},
	]);
});

test('occupancyOf shows a live lease up to now, with its known end', async () => {
	const world = await createTestWorld({gpuCount: 2});
	await reserve(world, {requester: person('alice', 'zoe'), ids: [1], count: 1, durationSeconds: 7200});
	const {spans, gpuCount} = await occupancyOf(world, 24);
	expect(gpuCount).toBe(2);
	expect(spans).toMatchObject([{gpuId: 1, user: 'zoe', account: 'alice', isLive: true, leaseCount: 1}]);
	expect(spans[0]!.endsBy! - spans[0]!.endTime).toBeCloseTo(7200, -1);
});

test('occupancyOf ignores an expiry that the Go canhazgpu wrote for a job', async () => {
	const world = await createTestWorld({gpuCount: 1});
	const job = {user: 'alice', type: 'run', start_time: world.now(), last_heartbeat: world.now()};
	world.memory.state.gpus.set(0, JSON.stringify({...job, expiry_time: world.now() + 60}));
	const {spans} = await occupancyOf(world, 24);
	expect(spans).toMatchObject([{gpuId: 0, type: 'run', isLive: true, endsBy: undefined}]);
});

const held = (user: string, startTime: number, endTime: number, gpuId = 0): UsageRecord => ({
	user,
	gpuId,
	startTime,
	endTime,
	durationSeconds: endTime - startTime,
	reservationType: 'run',
});

const usersOf = (records: readonly UsageRecord[]) =>
	holdersByColumn(records, 0, {start: 100, columnSeconds: 10, columns: 5}).map((column) =>
		column.map(({user}) => user).join('+'),
	);

test('an occupancy column names the account that held the GPU for most of the time', () => {
	expect(usersOf([held('ann', 0, 112), held('bob', 112, 131), held('cy', 145, 146), held('eve', 100, 150, 1)])).toEqual(
		['ann', 'bob', 'bob', 'bob', 'cy'],
	);
});

test('an occupancy column names every account with a share of the GPU', () => {
	expect(usersOf([held('bob', 100, 130), held('ann', 110, 140)])).toEqual(['bob', 'ann+bob', 'ann+bob', 'ann', '']);
});

test('an occupancy column is empty if and only if nobody held the GPU', () => {
	const record = fc
		.tuple(
			fc.constantFrom('ann', 'bob'),
			fc.double({min: -1e9, max: 1e9, noNaN: true}),
			fc.double({min: 0.001, max: 100}),
		)
		.map(([user, start, seconds]) => held(user, start > 1e6 ? start : (start % 100) + 100, 100 + seconds));
	fc.assert(
		fc.property(fc.array(record, {maxLength: 20}), (records) => {
			for (const [column, users] of usersOf(records).entries()) {
				const [from, to] = [100 + column * 10, 110 + column * 10];
				const isHeld = records.some(({startTime, endTime}) => Math.min(to, endTime) > Math.max(from, startTime));
				expect(users !== '').toBe(isHeld);
			}
		}),
		{numRuns: 200},
	);
});
