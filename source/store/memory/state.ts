import {Buffer} from 'node:buffer';
import type {Expectation} from '../../core/model/plan.js';
import {decodeRevision, encodeNextRevision, type RawPool} from '../records/index.js';
import {auditCap, type NumberedRow} from '../decode-audit.js';
import {
	changesNothing,
	historySeconds,
	isTrimDue,
	trimCount,
	type RawPlan,
	type RawUsage,
	type RawWrite,
} from '../raw-plan.js';

export type State = {
	pool: RawPool;
	readonly gpus: Map<number, string>;
	readonly queue: string[];
	readonly entries: Map<string, string>;
	readonly history: Array<Pick<RawUsage, 'endSecond' | 'raw'>>;
	readonly auditLog: NumberedRow[];
	drains: string | undefined;
	alerts: string | undefined;
	policy: string | undefined;
	jobs: string | undefined;
	readonly jobRecords: Map<number, string>;
	revision: string | undefined;
	/** Id of the current run. A test that restores an earlier state must also set another run. */
	run: string;
	/** The times of joining the queue, which give its order: microseconds since the epoch, by entry id. */
	readonly scores: Map<string, number>;
	readonly changes: Map<string, number>;
};

export const emptyState = (): State => ({
	pool: {gpuCount: undefined, provider: undefined, machine: undefined},
	gpus: new Map(),
	queue: [],
	entries: new Map(),
	history: [],
	auditLog: [],
	drains: undefined,
	alerts: undefined,
	policy: undefined,
	jobs: undefined,
	jobRecords: new Map(),
	revision: undefined,
	run: 'run-1',
	scores: new Map(),
	changes: new Map(),
});

const compareUsage = (a: Pick<RawUsage, 'endSecond' | 'raw'>, b: Pick<RawUsage, 'endSecond' | 'raw'>): number =>
	a.endSecond === b.endSecond ? Buffer.compare(Buffer.from(a.raw), Buffer.from(b.raw)) : a.endSecond - b.endSecond;

function holds(state: State, expectation: Expectation): boolean {
	switch (expectation.kind) {
		case 'gpu': {
			return state.gpus.get(expectation.index) === expectation.raw;
		}

		case 'entry': {
			return state.entries.get(expectation.id) === expectation.raw;
		}

		case 'queue': {
			const {ids, scope} = expectation;
			const isLongEnough = scope === 'whole' ? state.queue.length === ids.length : state.queue.length >= ids.length;
			return isLongEnough && ids.every((id, position) => state.queue[position] === id);
		}

		case 'pool': {
			const {gpuCount} = expectation;
			return state.pool.gpuCount === (gpuCount === undefined ? undefined : String(gpuCount));
		}

		case 'job': {
			return state.jobRecords.get(expectation.number) === expectation.raw;
		}

		case 'machine': {
			return state.pool.machine === expectation.raw;
		}

		case 'drains':
		case 'alerts':
		case 'policy':
		case 'jobs':
		case 'revision': {
			return state[expectation.kind] === expectation.raw;
		}
	}
}

function isPossible({queue}: State, write: RawWrite): boolean {
	return (write.kind !== 'join' && write.kind !== 'entry') || queue.includes(write.id) === (write.kind === 'entry');
}

function join({queue, scores}: State, {id, atMicroseconds}: Extract<RawWrite, {kind: 'join'}>, now: number): void {
	const taken = queue.map((other) => scores.get(other) ?? 0);
	let score = atMicroseconds ?? Math.max(Math.floor(now * 1e6), (taken.at(-1) ?? 0) + 1);
	while (taken.includes(score)) {
		score++;
	}

	scores.set(id, score);
	const behind = taken.findIndex((other) => other > score);
	queue.splice(behind === -1 ? queue.length : behind, 0, id);
}

function carryOut(state: State, write: RawWrite, now: number): void {
	switch (write.kind) {
		case 'gpu': {
			if (write.raw === undefined) {
				state.gpus.delete(write.index);
			} else {
				state.gpus.set(write.index, write.raw);
			}

			break;
		}

		case 'pool': {
			state.pool = write.pool;
			break;
		}

		case 'join': {
			join(state, write, now);
			state.entries.set(write.id, write.raw);
			break;
		}

		case 'entry': {
			state.entries.set(write.id, write.raw);
			break;
		}

		case 'leave': {
			const position = state.queue.indexOf(write.id);
			if (position !== -1) {
				state.queue.splice(position, 1);
			}

			state.entries.delete(write.id);
			state.scores.delete(write.id);
			break;
		}

		case 'restored': {
			break;
		}

		case 'job': {
			if (write.raw === undefined) {
				state.jobRecords.delete(write.number);
			} else {
				state.jobRecords.set(write.number, write.raw);
			}

			break;
		}

		case 'drains':
		case 'alerts':
		case 'policy':
		case 'jobs': {
			state[write.kind] = write.raw;
		}
	}
}

function appendUsage(state: State, usage: RawPlan['usage'], now: number): void {
	const {history} = state;
	history.push(
		...usage.filter(({raw}) => history.every((kept) => kept.raw !== raw)).map(({endSecond, raw}) => ({endSecond, raw})),
	);
	history.sort(compareUsage);
	const hasRecord = (fromSecond: number, toSecond: number): boolean =>
		history.some(({endSecond}) => endSecond >= fromSecond && endSecond <= toSecond);
	if (!isTrimDue(now, hasRecord)) {
		return;
	}

	const oldest = Math.floor(now) - historySeconds;
	const oldCount = history.filter(({endSecond}) => endSecond < oldest).length;
	history.splice(0, Math.min(oldCount, trimCount));
}

function appendAudit({auditLog}: State, records: readonly string[]): void {
	for (const raw of records) {
		auditLog.push({id: (auditLog.at(-1)?.id ?? 0) + 1, raw});
	}

	auditLog.splice(0, auditLog.length - auditCap);
}

/** Applies a plan completely or not at all. Returns false if a precondition or a write to the queue fails, or if the change was already executed. */
export function applyToState(state: State, plan: RawPlan, now: number): boolean {
	const {expect, writes, usage, audit, change} = plan;
	if (
		(change !== undefined && state.changes.has(change.id)) ||
		expect.some((item) => !holds(state, item)) ||
		writes.some((write) => !isPossible(state, write))
	) {
		return false;
	}

	if (change !== undefined) {
		state.changes.set(change.id, change.attempt);
	}

	for (const write of writes) {
		carryOut(state, write, now);
	}

	if (usage.length > 0) {
		appendUsage(state, usage, now);
	}

	appendAudit(state, audit);
	if (changesNothing(plan)) {
		return true;
	}

	const restored = writes.find((write) => write.kind === 'restored')?.count;
	state.revision = encodeNextRevision(decodeRevision(state.revision, state.run), now, restored);
	return true;
}
