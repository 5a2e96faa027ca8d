/**
The newest events of the pool, kept in the pool itself, and a small file that says how many there were: those who listen read that file,
which costs next to nothing, and open the database only when something happened. Heartbeats are no events, so they wake nobody.
*/
import {closeSync, constants, openSync, readSync, writeSync} from 'node:fs';
import type {PoolStatements} from './statements.js';

/** So many events are kept for those who look a fifth of a second later; whoever missed more reads everything. */
const keptCount = 32;

/** A longer one is told as "something happened". */
const longestEvent = 4096;

/** The name under which they are kept among the values of the pool. */
const rowName = 'events';

/** Digits of a count, and room. */
const signalBytes = 24;

export type RecentEvents = {
	/**
	How many events there were since the pool was made.
	*/
	readonly sequence: number;
	/**
	The newest as they are encoded, oldest first; empty for one that was too long.
	*/
	readonly recent: readonly string[];
};

const none: RecentEvents = {sequence: 0, recent: []};

function parse(raw: string): RecentEvents | undefined {
	try {
		const value = JSON.parse(raw) as Partial<RecentEvents> | undefined;
		const {sequence, recent} = value ?? {};
		return Number.isSafeInteger(sequence) && Array.isArray(recent)
			? {sequence: sequence!, recent: recent.map((event: unknown) => (typeof event === 'string' ? event : ''))}
			: undefined;
	} catch {
		return undefined;
	}
}

/** What is kept. Anything may be in there: what makes no sense is as good as nothing. */
export function readEvents(statements: PoolStatements): RecentEvents {
	const raw = statements.poolValue.get(rowName)?.['raw'];
	return (typeof raw === 'string' ? parse(raw) : undefined) ?? none;
}

/** Adds one inside a transaction. Returns how many there are now. */
export function addEvent(statements: PoolStatements, event: string): number {
	const {sequence, recent} = readEvents(statements);
	const next: RecentEvents = {
		sequence: sequence + 1,
		recent: [...recent, event.length > longestEvent ? '' : event].slice(-keptCount),
	};
	statements.setPoolValue.run(rowName, JSON.stringify(next));
	return next.sequence;
}

const signalOf = (path: string): string => `${path}-signal`;

/** Tells those who listen. It is only a hint: where the file cannot be written they look for themselves every few seconds. */
export function signal(path: string, sequence: number): void {
	try {
		const descriptor = openSync(
			signalOf(path),
			constants.O_WRONLY + constants.O_CREAT + constants.O_NOFOLLOW + constants.O_NONBLOCK,
			0o600,
		);
		try {
			writeSync(descriptor, `${sequence}\n`.padStart(signalBytes), 0);
		} finally {
			closeSync(descriptor);
		}
	} catch {}
}

/** What was signalled last, whatever it says; undefined when there is no such file. */
export function readSignal(path: string): string | undefined {
	try {
		const descriptor = openSync(signalOf(path), constants.O_RDONLY + constants.O_NOFOLLOW + constants.O_NONBLOCK);
		try {
			const bytes = new Uint8Array(signalBytes);
			const count = readSync(descriptor, bytes);
			return new TextDecoder('latin1').decode(bytes.subarray(0, count));
		} finally {
			closeSync(descriptor);
		}
	} catch {
		return undefined;
	}
}
