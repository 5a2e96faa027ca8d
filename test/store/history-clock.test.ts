import * as fc from 'fast-check';
import {expect, test} from 'vitest';
import {createMemoryStore} from '../../source/store/memory/index.js';
import {collect, plan, usage} from './samples.js';

const day = 86_400;

/** Days in whole hours. Nearly all arbitrary doubles would be close to zero. */
const daysUpTo = (days: number) => fc.integer({min: 0, max: days * 24}).map((hours) => hours / 24);

/** Days between one record and the next: usually a few, sometimes weeks. */
const gaps = (minLength: number, maxLength: number) =>
	fc.array(fc.oneof({weight: 99, arbitrary: daysUpTo(4)}, {weight: 1, arbitrary: daysUpTo(40)}), {
		minLength,
		maxLength,
		size: 'max',
	});

/** A store whose clock is wrong by `jumpSeconds`, and the true times of its records. */
class Writer {
	jumpSeconds = 0;
	removed = 0;
	#trueTime = 1_760_000_000;
	readonly #trueEnds: number[] = [];
	readonly #store = createMemoryStore({now: () => this.#trueTime + this.jumpSeconds});

	/** Appends a record after each of these gaps, in days. */
	async append(gapsInDays: readonly number[]): Promise<void> {
		for (const gap of gapsInDays) {
			this.#trueTime += gap * day;
			const gpuId = this.#trueEnds.length;
			this.#trueEnds.push(this.#trueTime);
			await this.#store.commit(plan({usage: [usage({gpuId, endTime: this.#trueTime + this.jumpSeconds})]}));
			await this.#checkLost();
		}
	}

	async #checkLost(): Promise<void> {
		if (this.#store.state.history.length === this.#trueEnds.length - this.removed) {
			return;
		}

		const kept = new Set((await collect(this.#store.history(0, 4_000_000_000))).map(({gpuId}) => gpuId));
		const lost = this.#trueEnds.filter((_, gpuId) => !kept.has(gpuId));
		expect(lost.filter((trueEnd) => this.#trueTime - trueEnd < 90 * day)).toEqual([]);
		this.removed = lost.length;
	}
}

test('the store never deletes usage records younger than 90 days, even if its clock is ahead for a while', async () => {
	let removed = 0;
	await fc.assert(
		fc.asyncProperty(
			gaps(50, 200),
			fc.integer({min: 1, max: 1000}),
			gaps(0, 100),
			gaps(0, 100),
			async (before, jumpDays, during, after) => {
				const writer = new Writer();
				await writer.append(before);
				writer.jumpSeconds = jumpDays * day;
				await writer.append(during);
				writer.jumpSeconds = 0;
				await writer.append(after);
				removed += writer.removed;
			},
		),
		{numRuns: 60},
	);
	// The test proves nothing if no record is ever removed.
	expect(removed).toBeGreaterThan(0);
});
