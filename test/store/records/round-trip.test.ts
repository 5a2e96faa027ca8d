import {Buffer} from 'node:buffer';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {
	bytesOf,
	decodeEvent,
	decodeGpu,
	decodePool,
	decodeQueueEntry,
	decodeUsage,
	encodeEvent,
	encodeFree,
	encodeLease,
	encodePool,
	encodeQueueEntry,
	encodeShares,
	encodeUsage,
	rawOf,
} from '../../../source/store/records/index.js';
import {anyEnded, anyEntry, anyEvent, anyLease, anyShares, anyTime, anyUsage} from './arbitraries.js';

/** Returns the value without lone surrogates, because they cannot be stored. */
const wellFormed = <Value>(value: Value): Value => {
	if (typeof value === 'string') {
		return value.toWellFormed() as Value;
	}

	if (Array.isArray(value)) {
		return value.map((item: unknown) => wellFormed(item)) as Value;
	}

	return typeof value === 'object' && value !== null
		? (Object.fromEntries(
				Object.entries(value).map(([name, inner]) => [name.toWellFormed(), wellFormed(inner as unknown)]),
			) as Value)
		: value;
};

/** Whether a stored record contains neither null nor malformed strings. */
const isStrict = (raw: string): boolean => !raw.includes(':null') && raw.isWellFormed() && !/[^\\]\\ud/v.test(raw);

describe('encoding, decoding and encoding again returns the same text for', () => {
	test('a lease', () => {
		fc.assert(
			fc.property(anyLease, (lease) => {
				const raw = encodeLease(lease);
				const record = decodeGpu(3, raw);
				expect(record).toEqual({kind: 'leased', index: 3, raw, lease: wellFormed(lease)});
				expect(record.kind === 'leased' && encodeLease(record.lease)).toBe(raw);
				expect(lease.unknownFields !== undefined || isStrict(raw)).toBe(true);
			}),
		);
	});

	test('a shared GPU', () => {
		fc.assert(
			fc.property(anyShares, (shared) => {
				const raw = encodeShares(shared);
				const record = decodeGpu(3, raw);
				expect(record).toEqual({kind: 'shared', index: 3, raw, ...wellFormed(shared)});
				expect(record.kind === 'shared' && encodeShares(record)).toBe(raw);
			}),
		);
	});

	test('a free GPU', () => {
		fc.assert(
			fc.property(anyTime, fc.option(anyEnded, {nil: undefined}), (lastReleased, ended) => {
				const raw = encodeFree(lastReleased, ended);
				expect(decodeGpu(0, raw)).toEqual({
					kind: 'free',
					index: 0,
					raw,
					lastReleased,
					...(ended && {ended: wellFormed(ended)}),
				});
			}),
		);
		expect(encodeFree(undefined)).toBeUndefined();
	});

	test('a queue entry', () => {
		fc.assert(
			fc.property(anyEntry, (entry) => {
				const raw = encodeQueueEntry(entry);
				const record = decodeQueueEntry(entry.id.toWellFormed(), raw);
				expect(record).toEqual({kind: 'entry', id: record.id, raw, entry: wellFormed(entry)});
				expect(record.kind === 'entry' && encodeQueueEntry(record.entry)).toBe(raw);
				expect((entry.unknownFields ?? entry.need?.unknownFields) !== undefined || isStrict(raw)).toBe(true);
			}),
		);
	});

	test('a usage record', () => {
		fc.assert(
			fc.property(anyUsage, (usage) => {
				const raw = encodeUsage(usage);
				expect(decodeUsage(raw)).toEqual(wellFormed(usage));
				expect(encodeUsage(decodeUsage(raw)!)).toBe(raw);
				expect(isStrict(raw)).toBe(true);
			}),
		);
	});

	test('an event', () => {
		fc.assert(
			fc.property(anyEvent, (event) => {
				expect(decodeEvent(encodeEvent(event))).toEqual(wellFormed(event));
			}),
		);
	});

	test('a pool', () => {
		const pool = {gpuCount: 8, provider: 'amd', machine: {id: 'm', bootId: 'b', movedTo: '/there'}} as const;
		expect(decodePool(encodePool(pool))).toEqual(pool);
		expect(encodePool(pool).machine).toBe('{"machine_id":"m","boot_id":"b","moved_to":"/there"}');
		const unknownBoot = {...pool, machine: {id: 'm'}};
		expect(encodePool(unknownBoot).machine).toBe('{"machine_id":"m"}');
		expect(decodePool(encodePool(unknownBoot))).toEqual(unknownBoot);
		expect(decodePool({...encodePool(pool), machine: '{"machine_id":"m","boot_id":"no-boot-id-m"}'})).toEqual(
			unknownBoot,
		);
	});

	test('invalid UTF-8', () => {
		fc.assert(
			fc.property(fc.uint8Array(), (bytes) => {
				expect(Buffer.compare(Buffer.from(bytesOf(rawOf(bytes))), Buffer.from(bytes))).toBe(0);
			}),
		);
	});
});

describe('a readable record of another program can be decoded, encoded and decoded again', () => {
	const anyValue = fc.oneof(
		fc.constantFrom<unknown>(
			null,
			true,
			'',
			'x',
			[],
			{},
			[[]],
			-1,
			-0.25,
			0,
			1.5,
			2 ** 53,
			1e12,
			1e300,
			'2026-02-30T00:00:00Z',
		),
		fc.date({noInvalidDate: true}).map((date) => date.toISOString()),
		fc.double(),
		fc.jsonValue(),
	);

	/** A record with one field replaced. */
	const changed = ([raw, at, value]: readonly [raw: string, at: number, value: unknown]): string => {
		const record = JSON.parse(raw) as Record<string, unknown>;
		const names = Object.keys(record);
		return JSON.stringify({...record, [names[at % names.length]!]: value});
	};

	const changedFrom = (raw: fc.Arbitrary<string>) => fc.tuple(raw, fc.nat(), anyValue).map((change) => changed(change));

	test('for a GPU', () => {
		const anyHeld = fc.oneof(
			anyLease.map((lease) => encodeLease(lease)),
			anyShares.map((shares) => encodeShares(shares)),
		);
		fc.assert(
			fc.property(changedFrom(anyHeld), (stored) => {
				const record = decodeGpu(3, stored);
				if (record.kind === 'leased') {
					expect(decodeGpu(3, encodeLease(record.lease))).toMatchObject({kind: 'leased'});
				} else if (record.kind === 'shared') {
					expect(decodeGpu(3, encodeShares(record))).toMatchObject({kind: 'shared'});
				}
			}),
			{numRuns: 1500},
		);
	});

	test('for a queue entry', () => {
		fc.assert(
			fc.property(changedFrom(anyEntry.map((entry) => encodeQueueEntry(entry))), (stored) => {
				const record = decodeQueueEntry('q', stored);
				if (record.kind === 'entry') {
					expect(decodeQueueEntry('q', encodeQueueEntry(record.entry))).toMatchObject({kind: 'entry'});
				}
			}),
			{numRuns: 500},
		);
	});
});

describe('decoding a record never throws', () => {
	const anyText = fc.oneof(
		fc.string({unit: 'binary'}),
		fc.json(),
		fc
			.dictionary(
				fc.constantFrom('user', 'type', 'start_time', 'last_released', 'pid', 'gpu_id', 'end_time', 'id', '__proto__'),
				fc.jsonValue(),
			)
			.map((fields) => JSON.stringify(fields)),
	);

	test('for any stored string', () => {
		fc.assert(
			fc.property(anyText, (raw) => {
				expect(['free', 'leased', 'shared', 'garbage']).toContain(decodeGpu(0, raw).kind);
				expect(['entry', 'garbage']).toContain(decodeQueueEntry('q', raw).kind);
				decodeUsage(raw);
				decodeEvent(raw);
				decodeGpu(0, rawOf(Buffer.from(raw, 'latin1')));
			}),
			{numRuns: 1000},
		);
		expect(Object.keys(Object.prototype)).toEqual([]);
	});

	test('for values nested to any depth', () => {
		for (const depth of [10, 100, 100_000]) {
			const deep = '['.repeat(depth) + ']'.repeat(depth);
			const record = decodeGpu(0, `{"user":"a","type":"run","start_time":1,"x":${deep}}`);
			expect(record.kind).toBe(depth === 10 ? 'leased' : 'garbage');
		}
	});
});
