/** Text with invalid UTF-8, and the exact arguments and environment of a process. */
import {Buffer} from 'node:buffer';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {
	decodeBytes,
	encodeBytes,
	exactEnvironment,
	exactWords,
	isBytes,
} from '../../../source/host/inherited/exact-text.js';

/** Arbitrary bytes, which often contain whole or truncated characters. */
const bytes = fc.oneof(
	fc.uint8Array({min: 1, maxLength: 40}),
	fc.string({unit: 'grapheme', maxLength: 10}).map((text) => Buffer.from(text)),
	fc
		.tuple(fc.string({unit: 'grapheme', minLength: 1, maxLength: 5}), fc.nat(20))
		.map(([text, cut]) => Buffer.from(text).subarray(0, cut)),
);

test('encodeBytes restores any bytes that decodeBytes turned into text', () => {
	fc.assert(
		fc.property(bytes, (given) => {
			expect([...encodeBytes(decodeBytes(given))]).toEqual([...given]);
		}),
		{numRuns: 2000},
	);
});

test('decodeBytes keeps valid UTF-8 and turns only invalid bytes into lone surrogates', () => {
	fc.assert(
		fc.property(fc.string({unit: 'grapheme'}), (text) => {
			const valid = text.toWellFormed();
			expect(decodeBytes(Buffer.from(valid))).toBe(valid);
			expect(isBytes(valid)).toBe(false);
		}),
	);
	expect(isBytes(decodeBytes(Buffer.from([0x63, 0xe9])))).toBe(true);
	// UTF-8 that encodes a surrogate is invalid.
	expect([...encodeBytes(decodeBytes(Buffer.from([0xed, 0xb3, 0xa9])))]).toEqual([0xed, 0xb3, 0xa9]);
});

/** Joins strings in the format in which the kernel returns arguments and variables. */
const joined = (...strings: readonly Uint8Array[]) => Buffer.concat(strings.flatMap((each) => [each, Buffer.of(0)]));

const latin1 = (text: string) => Buffer.from(text, 'latin1');

test('exactWords restores the original bytes of the last arguments', () => {
	const line = joined(latin1('node'), latin1('--'), latin1('cat'), latin1('caf\u{E9}'));
	expect(exactWords(['cat', 'caf\u{FFFD}'], line)).toEqual(['cat', 'caf\u{DCE9}']);
	expect(exactWords(['dog', 'caf\u{FFFD}'], line)).toEqual(['dog', 'caf\u{FFFD}']);
	expect(exactWords(['srun', '--', 'cat', 'caf\u{FFFD}'], line)).toEqual(['srun', '--', 'cat', 'caf\u{DCE9}']);
	expect(exactWords(['caf\u{FFFD}', 'cat'], line)).toEqual(['caf\u{FFFD}', 'cat']);
	expect(exactWords(['cat', 'tea'], line)).toEqual(['cat', 'tea']);
	expect(exactWords(['cat'], new Uint8Array())).toEqual(['cat']);
});

test('exactEnvironment restores the original bytes of unchanged variables', () => {
	const given = joined(
		latin1('NAME=Ren\u{E9}'),
		latin1('CHANGED=\u{E9}'),
		latin1('REMOVED=\u{E9}'),
		latin1('W\u{E9}=1'),
		latin1('W\u{E8}=2'),
		latin1('=\u{E9}'),
		latin1('PLAIN=a'),
	);
	expect(exactEnvironment({NAME: 'Ren\u{FFFD}', CHANGED: 'b', PLAIN: 'c'}, given)).toEqual({
		NAME: 'Ren\u{DCE9}',
		CHANGED: 'b',
		PLAIN: 'c',
		'W\u{DCE9}': '1',
		'W\u{DCE8}': '2',
	});
});
