import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {LiveState} from '../../../source/core/live/live-view.js';
import {countUserSeconds} from '../../../source/core/live/user-seconds.js';

/** The state of a GPU in one second. */
type Use = 'free' | 'alice' | 'alice idle' | 'bob' | 'shared';

const capacityMiB = 40_960;

function rowOf(use: Use): unknown {
	if (use === 'shared') {
		const share = (owner: string, memoryMiB: number, idleSeconds?: number) => ({
			owner,
			lease: {memoryMiB},
			idleSeconds,
		});
		return {capacityMiB, shares: [share('alice', capacityMiB / 4), share('bob', capacityMiB / 2, 5)]};
	}

	const [owner, idle] = use.split(' ', 2);
	return use === 'free' ? {} : {owner, idleSeconds: idle === undefined ? undefined : 7};
}

const eachSecond = {
	free: {},
	alice: {alice: [1, 0]},
	'alice idle': {alice: [1, 1]},
	bob: {bob: [1, 0]},
	shared: {alice: [0.25, 0], bob: [0.5, 0.5]},
} satisfies Record<Use, Record<string, readonly [reserved: number, idle: number]>>;

const uses = Object.keys(eachSecond) as readonly Use[];

test('countUserSeconds counts held GPU seconds per user, except while the store is down', () => {
	const second = fc.record({
		gpus: fc.array(fc.constantFrom(...uses), {minLength: 3, maxLength: 3}),
		isLost: fc.boolean(),
		// A change may be published or not, and the sums can be read at any time.
		isPublished: fc.boolean(),
		isAsked: fc.boolean(),
	});
	fc.assert(
		fc.property(fc.array(second, {maxLength: 30}), (seconds) => {
			let now = 0;
			let state = {rows: []} as unknown as LiveState;
			let changed: ((next: LiveState) => void) | undefined;
			const sums = countUserSeconds(
				{
					current: () => state,
					subscribe(listener) {
						changed = (next) => {
							listener(next, 'snapshot');
						};

						return () => undefined;
					},
				},
				() => now,
			);
			const expected = new Map<string, readonly [number, number]>();
			let last = '';
			for (const {gpus, isLost, isPublished, isAsked} of seconds) {
				state = {
					rows: gpus.map((use) => rowOf(use)),
					lost: isLost ? {reason: 'away', since: 0} : undefined,
				} as unknown as LiveState;
				// A live view publishes every change of its state.
				if (isPublished || JSON.stringify(state) !== last) {
					changed?.(state);
				}

				last = JSON.stringify(state);
				now += 1000;
				for (const [user, [reserved, idle]] of isLost ? [] : gpus.flatMap((use) => Object.entries(eachSecond[use]))) {
					const [before, idleBefore] = expected.get(user) ?? [0, 0];
					expected.set(user, [before + reserved, idleBefore + idle]);
				}

				if (isAsked) {
					sums();
				}
			}

			expect(Object.fromEntries([...sums()].map(([user, {reserved, idle}]) => [user, [reserved, idle]]))).toEqual(
				Object.fromEntries(expected),
			);
		}),
	);
});
