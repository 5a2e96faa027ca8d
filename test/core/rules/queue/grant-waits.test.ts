import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {AuditRecord} from '../../../../source/core/model/types.js';
import {grantWaits, type JoinTimes} from '../../../../source/core/rules/queue/grant-waits.js';

/** A request with its join time, the length of its wait, and how the wait ended. */
const requests = fc.array(
	fc.record({
		joinTime: fc.integer({min: 0, max: 1000}),
		staySeconds: fc.integer({min: 0, max: 1000}),
		end: fc.constantFrom('granted', 'left', 'refused', 'waiting', 'granted at once', 'undone', 'unknown start'),
		isRestored: fc.boolean(),
	}),
	{maxLength: 30},
);

const chunkSizes = fc.array(fc.integer({min: 1, max: 7}), {minLength: 1, maxLength: 5});

/** Reads the audit log in parts, as they arrive. */
function waitsIn(log: readonly AuditRecord[], sizes: readonly number[]): readonly number[] {
	let joined: JoinTimes = new Map();
	const all: number[] = [];
	for (let from = 0, turn = 0; from < log.length; turn++) {
		const size = sizes[turn % sizes.length]!;
		const next = grantWaits(joined, log.slice(from, from + size));
		joined = next.joined;
		all.push(...next.waits);
		from += size;
	}

	return all;
}

test('grant waits count each grant once, however the audit log is divided into parts', () => {
	fc.assert(
		fc.property(requests, chunkSizes, (all, sizes) => {
			const records = all.flatMap(({joinTime, staySeconds, end, isRestored}, index): readonly AuditRecord[] => {
				const entryId = `entry-${index}`;
				const record = (kind: AuditRecord['kind'], time: number, more: Partial<AuditRecord> = {}): AuditRecord => ({
					kind,
					time,
					gpus: [],
					...more,
				});
				const endTime = joinTime + staySeconds;
				const joins = [
					record('joined', joinTime, {entryId}),
					// After a restore, the entry joins the queue again, but its wait counts from the first time it joined.
					...(isRestored ? [record('joined', joinTime + staySeconds / 2, {entryId, reason: 'restored'})] : []),
				];
				const ends = {
					// GPUs that are held before the whole request is granted do not count as a grant.
					granted: [...joins, record('held', endTime, {entryId}), record('granted', endTime, {entryId})],
					left: [...joins, record('left', endTime, {entryId})],
					refused: [...joins, record('refused', endTime, {entryId})],
					waiting: joins,
					'granted at once': [record('granted', endTime)],
					undone: [record('granted', endTime, {reason: 'undone'})],
					'unknown start': [record('granted', endTime, {entryId})],
				};
				return ends[end];
			});
			const log = records.toSorted((a, b) => a.time - b.time);
			const expected = all.flatMap(({staySeconds, end}) =>
				end === 'granted' ? [staySeconds] : end === 'granted at once' ? [0] : [],
			);
			expect(waitsIn(log, sizes).toSorted((a, b) => a - b)).toEqual(expected.toSorted((a, b) => a - b));
		}),
	);
});
