/**
The newest events of the pool, kept in the pool itself, and the last of them once more in a small file: those who listen read that file, which
costs next to nothing, and open the database only where it does not tell what they missed. Heartbeats are no events, so they wake no one.
*/
import {Buffer} from 'node:buffer';
import {closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync} from 'node:fs';
import type {PoolStatements} from './statements.js';

/** So many events are kept for listeners that poll a fifth of a second later; a listener that missed more reads everything. */
const keptCount = 32;

/** A longer event is kept as "something happened". */
const longestEvent = 4096;

/** The name under which they are kept among the values of the pool. */
const rowName = 'events';

/** So many are in the file: as many as happen in a fifth of a second. */
const signalledCount = 8;

/** A longer file is not ours. */
const longestSignalBytes = 8192;

export type RecentEvents = {
	/** How many events there were since the pool was made. */
	readonly sequence: number;
	/** The newest as they are encoded, oldest first; empty for one that was too long. */
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

/** The signals that are kept. The file may contain anything: a line that makes no sense is ignored. */
export function readEvents(statements: PoolStatements): RecentEvents {
	const raw = statements.poolValue.get(rowName)?.['raw'];
	return (typeof raw === 'string' ? parse(raw) : undefined) ?? none;
}

/** Adds one inside a transaction. Returns what is kept now. */
export function addEvent(statements: PoolStatements, event: string): RecentEvents {
	const {sequence, recent} = readEvents(statements);
	const next: RecentEvents = {
		sequence: sequence + 1,
		recent: [...recent, event.length > longestEvent ? '' : event].slice(-keptCount),
	};
	statements.setPoolValue.run(rowName, JSON.stringify(next));
	return next;
}

const signalOf = (path: string): string => `${path}-signal`;

/** The line of a signal. No two lines are equal, so its writer recognizes its own. */
const encodeSignal = ({sequence, recent}: RecentEvents): string => {
	const line = (events: readonly string[]): string =>
		`${JSON.stringify({sequence, recent: events, nonce: Math.random()})}\n`;
	const whole = line(recent.slice(-signalledCount));
	return Buffer.byteLength(whole) > longestSignalBytes ? line([]) : whole;
};

/** A signal of another process. Every account of the pool can write here, so a signal only wakes readers. */
export const decodeSignal = (text: string): RecentEvents | undefined => parse(text);

/**
Signals to those who listen. Called while the database is still locked, so that the last signal is that of the last change. It is only a hint: where
the file cannot be written they look for themselves now and then.

@returns What it says now.
*/
export function signal(path: string, events: RecentEvents): string {
	const text = encodeSignal(events);
	try {
		const descriptor = openSync(
			signalOf(path),
			constants.O_WRONLY + constants.O_CREAT + constants.O_NOFOLLOW + constants.O_NONBLOCK,
			0o600,
		);
		try {
			const {nlink} = fstatSync(descriptor);
			if (nlink !== 1) {
				// A second name: some other file would be overwritten.
				return text;
			}

			// The rest of a longer line is cut off afterwards. Until then, readers read up to the end of the line.
			ftruncateSync(descriptor, writeSync(descriptor, text, 0));
		} finally {
			closeSync(descriptor);
		}
	} catch {}

	return text;
}

/** A buffer that all reads share. Reads are synchronous. */
const signalBytes = Buffer.alloc(longestSignalBytes);

/** The last signal, or undefined if the file does not exist. */
export function readSignal(path: string): string | undefined {
	try {
		const descriptor = openSync(signalOf(path), constants.O_RDONLY + constants.O_NOFOLLOW + constants.O_NONBLOCK);
		try {
			const text = signalBytes.toString('utf8', 0, readSync(descriptor, signalBytes));
			return text.slice(0, text.indexOf('\n') + 1);
		} finally {
			closeSync(descriptor);
		}
	} catch {
		return undefined;
	}
}
