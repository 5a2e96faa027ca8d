/**
Carries out a plan inside one transaction.
*/
import type {StatementSync} from 'node:sqlite';
import type {Expectation} from '../../core/plan.js';
import {auditCap} from '../decode-audit.js';
import {historySeconds, trimCount, type RawPlan, type RawWrite} from '../raw-plan.js';
import type {Statements} from './statements.js';

/** The stored string, or undefined when there is none. */
const rawAt = (statement: StatementSync, key: string | number): string | undefined =>
	statement.get(key)?.['raw'] as string | undefined;

function holds(statements: Statements, expectation: Expectation): boolean {
	switch (expectation.kind) {
		case 'gpu': {
			return rawAt(statements.gpu, expectation.index) === expectation.raw;
		}

		case 'entry': {
			return rawAt(statements.entry, expectation.id) === expectation.raw;
		}

		case 'queue': {
			const {ids, extent} = expectation;
			// One more than expected tells whether the line goes on.
			const line = statements.line.all(ids.length + 1).map(({id}) => id);
			return ids.every((id, place) => line[place] === id) && (extent === 'prefix' || line.length === ids.length);
		}

		case 'pool': {
			return rawAt(statements.poolValue, 'gpuCount') === expectation.gpuCount?.toString();
		}

		case 'drains':
		case 'notices': {
			return rawAt(statements.poolValue, expectation.kind) === expectation.raw;
		}
	}
}

/** Joining twice would move somebody to the end; an entry without a place would never be found again. */
function isPossible(statements: Statements, write: RawWrite): boolean {
	if (write.kind !== 'join' && write.kind !== 'entry') {
		return true;
	}

	const isInLine = rawAt(statements.entry, write.id) !== undefined;
	return isInLine === (write.kind === 'entry');
}

function setPoolValue(statements: Statements, name: string, raw: string | undefined): void {
	if (raw === undefined) {
		statements.deletePoolValue.run(name);
	} else {
		statements.setPoolValue.run(name, raw);
	}
}

function carryOut(statements: Statements, write: RawWrite): void {
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
			statements.join.run(write.id, write.raw);
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

		case 'drains':
		case 'notices': {
			setPoolValue(statements, write.kind, write.raw);
		}
	}
}

/**
Compares and writes, inside a transaction that the caller keeps or takes back.

@param statements - Of the database that is in the transaction.
@param plan - What to do.
@param now - The store's clock, in seconds.
@returns False for a conflict.
*/
export function applyPlan(statements: Statements, {expect, writes, usage, audit}: RawPlan, now: number): boolean {
	const isFree =
		expect.every((expectation) => holds(statements, expectation)) &&
		writes.every((write) => isPossible(statements, write));
	if (!isFree) {
		return false;
	}

	for (const write of writes) {
		carryOut(statements, write);
	}

	for (const {endSecond, raw, user} of usage) {
		statements.addUsage.run(endSecond, raw, user);
	}

	if (usage.length > 0) {
		statements.trimUsage.run(Math.floor(now) - historySeconds, trimCount);
	}

	for (const raw of audit) {
		statements.addAudit.run(raw);
	}

	if (audit.length > 0) {
		statements.trimAudit.run(auditCap);
	}

	return true;
}
