import {randomUUID} from 'node:crypto';
import type {Expectation} from '../../core/model/plan.js';
import {decodeRevision, encodeNextRevision} from '../records/index.js';
import {auditCap} from '../decode-audit.js';
import {changesNothing, historySeconds, isTrimDue, trimCount, type RawPlan, type RawWrite} from '../raw-plan.js';
import type {BoundedStatement} from './bounded.js';
import {jobName, valueNames} from './schema.js';
import type {PoolStatements} from './statements.js';

const rawAt = (statement: BoundedStatement, key: string | number): string | undefined =>
	statement.get(key)?.['raw'] as string | undefined;

function holds(statements: PoolStatements, expectation: Expectation): boolean {
	switch (expectation.kind) {
		case 'gpu': {
			return rawAt(statements.gpu, expectation.index) === expectation.raw;
		}

		case 'entry': {
			return rawAt(statements.entry, expectation.id) === expectation.raw;
		}

		case 'queue': {
			const {ids, scope} = expectation;
			const queue = statements.queueIds.all(ids.length + 1).map(({id}) => id);
			return ids.every((id, index) => queue[index] === id) && (scope === 'prefix' || queue.length === ids.length);
		}

		case 'pool': {
			return rawAt(statements.poolValue, 'gpuCount') === expectation.gpuCount?.toString();
		}

		case 'job': {
			return rawAt(statements.poolValue, jobName(expectation.number)) === expectation.raw;
		}

		case 'machine':
		case 'drains':
		case 'alerts':
		case 'policy':
		case 'jobs':
		case 'revision': {
			return rawAt(statements.poolValue, valueNames[expectation.kind]) === expectation.raw;
		}
	}
}

/** Number of changes to remember, to recognize a repeated change. Fewer than in Redis are enough, because no network delays requests. */
const changesKept = 1000;

/** Whether a write to the queue is possible. A second join would lose the entry's position, and an entry without a position would never be found. */
function isPossible(statements: PoolStatements, write: RawWrite): boolean {
	if (write.kind !== 'join' && write.kind !== 'entry') {
		return true;
	}

	const isQueued = rawAt(statements.entry, write.id) !== undefined;
	return isQueued === (write.kind === 'entry');
}

function setPoolValue(statements: PoolStatements, name: string, raw: string | undefined): void {
	if (raw === undefined) {
		statements.deletePoolValue.run(name);
	} else {
		statements.setPoolValue.run(name, raw);
	}
}

function positionAt(statements: PoolStatements, microseconds: number): number {
	let position = microseconds;
	while (statements.idAt.get(position) !== undefined) {
		position++;
	}

	return position;
}

function carryOut(statements: PoolStatements, write: RawWrite, now: number): void {
	switch (write.kind) {
		case 'gpu': {
			if (write.raw === undefined) {
				statements.deleteGpu.run(write.index);
			} else {
				statements.setGpu.run(write.index, write.raw);
			}

			break;
		}

		case 'pool': {
			for (const [name, raw] of Object.entries(write.pool)) {
				setPoolValue(statements, name, raw);
			}

			break;
		}

		case 'join': {
			const {id, raw, atMicroseconds} = write;
			if (atMicroseconds === undefined) {
				statements.join.run(id, raw, Math.floor(now * 1e6));
			} else {
				statements.joinAt.run(id, raw, positionAt(statements, atMicroseconds));
			}

			break;
		}

		case 'entry': {
			statements.setEntry.run(write.id, write.raw);
			break;
		}

		case 'leave': {
			statements.leave.run(write.id);
			break;
		}

		case 'job': {
			setPoolValue(statements, jobName(write.number), write.raw);
			break;
		}

		case 'drains':
		case 'alerts':
		case 'policy':
		case 'jobs': {
			setPoolValue(statements, valueNames[write.kind], write.raw);
			break;
		}

		case 'restored': {
			break;
		}
	}
}

/**
Counts this commit in the revision. If nothing was ever committed to this file, a new run of the store begins. For an empty plan, writes the revision
and then the old value again, which tests whether the file accepts changes.
*/
function count(statements: PoolStatements, plan: RawPlan, now: number): void {
	const stored = rawAt(statements.poolValue, 'revision');
	const before = decodeRevision(stored, stored === undefined ? randomUUID() : undefined);
	const restored = plan.writes.find((write) => write.kind === 'restored')?.count;
	setPoolValue(statements, 'revision', encodeNextRevision(before, now, restored));
	if (changesNothing(plan)) {
		setPoolValue(statements, 'revision', stored);
	}
}

/** Executes a plan inside a transaction, which the caller commits or rolls back. Returns false for a conflict. `now` is the store's clock. */
export function applyPlan(statements: PoolStatements, plan: RawPlan, now: number): boolean {
	const {expect, writes, usage, audit, change} = plan;
	const canBeApplied =
		(change === undefined || statements.change.get(change.id) === undefined) &&
		expect.every((expectation) => holds(statements, expectation)) &&
		writes.every((write) => isPossible(statements, write));
	if (!canBeApplied) {
		return false;
	}

	if (change !== undefined) {
		statements.addChange.run(change.id, change.attempt);
		statements.trimChanges.run(changesKept);
	}

	for (const write of writes) {
		carryOut(statements, write, now);
	}

	for (const {endSecond, raw, user} of usage) {
		statements.addUsage.run(endSecond, raw, user);
	}

	const hasUsage = (fromSecond: number, toSecond: number): boolean =>
		statements.usageBetween.get(fromSecond, toSecond) !== undefined;
	if (usage.length > 0 && isTrimDue(now, hasUsage)) {
		statements.trimUsage.run(Math.floor(now) - historySeconds, trimCount);
	}

	for (const raw of audit) {
		statements.addAudit.run(raw);
	}

	if (audit.length > 0) {
		statements.trimAudit.run(auditCap);
	}

	count(statements, plan, now);
	return true;
}
