/** Checks plans. A plan must expect every value that it replaces or that its grants depend on. */
import type {Expectation, Plan, Write} from '../../../source/core/model/plan.js';
import type {Store} from '../../../source/core/model/ports.js';

/** Returns the key that a write replaces, or undefined if it replaces nothing. */
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

		case 'job': {
			return {kind: 'job', number: write.job.number, raw: undefined};
		}

		case 'forget-job': {
			return {kind: 'job', number: write.number, raw: undefined};
		}

		case 'drains':
		case 'policy':
		case 'jobs':
		case 'alerts': {
			return {kind: write.kind, raw: undefined};
		}

		case 'copy': {
			return {kind: write.name, raw: undefined};
		}

		// The keys of a pool can contain invalid values, which cannot be compared.
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
			: expectation.kind === 'job'
				? `job ${expectation.number}`
				: expectation.kind;

/** The keys on which every grant depends: the number of GPUs, drains, sharing and policy. */
const relevantToGrants = ['pool', 'drains', 'policy'];

/** Throws if the plan could overwrite, or depend on, a value that another process has changed since. */
export function checkFences({expect, writes, usage, grants}: Plan, now: number): void {
	const expected = new Set(expect.map((expectation) => nameOf(expectation)));
	// A value that is not a string cannot be compared. Recreating the pool deletes it.
	const isRemake = writes.some(({kind}) => kind === 'pool');
	const replaced = writes
		.filter((write) => !(isRemake && write.kind === 'free'))
		.map((write) => replacedBy(write))
		.filter((expectation) => expectation !== undefined);
	for (const name of [...replaced.map((expectation) => nameOf(expectation)), ...(grants ? relevantToGrants : [])]) {
		// The index of the jobs shows which numbers are new.
		const isNewJob = name.startsWith('job ') && expected.has('jobs');
		if (!expected.has(name) && !isNewJob) {
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
