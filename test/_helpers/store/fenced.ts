/** A store that takes no plan which could change what its maker has not read: what is replaced, or relied on by a grant, has to be expected. */
import type {Expectation, Plan, Write} from '../../../source/core/model/plan.js';
import type {Store} from '../../../source/core/model/ports.js';

/** What a write replaces. Undefined for what replaces nothing. */
function replacedBy(write: Write): Expectation | undefined {
	switch (write.kind) {
		case 'lease':
		case 'shares':
		case 'free': {
			return {kind: 'gpu', index: write.index, raw: undefined};
		}

		case 'entry': {
			return {kind: 'entry', id: write.entry.id, raw: undefined};
		}

		case 'leave': {
			return {kind: 'entry', id: write.id, raw: undefined};
		}

		case 'drains':
		case 'policy':
		case 'alerts': {
			return {kind: write.kind, raw: undefined};
		}

		// The keys of a pool may be garbage, which cannot be compared.
		case 'pool':
		case 'join':
		case 'restored': {
			return undefined;
		}
	}
}

const nameOf = (expectation: Expectation): string =>
	expectation.kind === 'gpu'
		? `GPU ${expectation.index}`
		: expectation.kind === 'entry'
			? `entry ${expectation.id}`
			: expectation.kind;

/** What decides about every grant: how many GPUs there are, which are out of service, what is shared and by which rules. */
const relevantToGrants = ['pool', 'drains', 'policy'];

/** @throws Error for a plan that could change, or rely on, what somebody else has changed meanwhile. */
export function checkFences({expect, writes, usage, grants}: Plan, now: number): void {
	const expected = new Set(expect.map((expectation) => nameOf(expectation)));
	// A value that is not even a string cannot be compared: a pool that is made again throws it away.
	const isRemake = writes.some(({kind}) => kind === 'pool');
	const replaced = writes
		.filter((write) => !(isRemake && write.kind === 'free'))
		.map((write) => replacedBy(write))
		.filter((expectation) => expectation !== undefined);
	for (const name of [...replaced.map((expectation) => nameOf(expectation)), ...(grants ? relevantToGrants : [])]) {
		if (!expected.has(name)) {
			throw new Error(`A plan does not expect ${name}, on which it relies: ${JSON.stringify(writes)}`);
		}
	}

	for (const {startTime, endTime} of usage) {
		if (!(startTime <= endTime && endTime <= now)) {
			throw new Error(`A usage record from ${startTime} to ${endTime}, at ${now}`);
		}
	}
}

export const fenced = (store: Store, now: () => number): Store => ({
	...store,
	async commit(plan) {
		checkFences(plan, now());
		return store.commit(plan);
	},
});
