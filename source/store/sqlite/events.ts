/**
The newest events of the pool, stored in the pool, and the last of them also in a small file. Listeners read that file, which is cheap, and open the
database only if the file does not contain everything they missed. Heartbeats are no events, so they wake nobody.
*/
import {Buffer} from 'node:buffer';
import {closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync} from 'node:fs';
import type {PoolStatements} from './statements.js';

/** The most events to keep, for listeners that poll a fifth of a second later. A listener that missed more reads everything. */
const keptCount = 32;

/** A longer event is stored as "something happened". */
const longestEvent = 4096;

/** The row of the events in the pool's table of values. */
const rowName = 'events';

/** The most events in the file: as many as happen in a fifth of a second. */
const signalledCount = 8;

/** A longer file is invalid. */
const longestSignalBytes = 8192;

export type RecentEvents = {
	/** Number of events since the pool was created. */
	readonly sequence: number;
	/** The newest events, encoded, oldest first. Empty for an event that was too long. */
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

/** Reads the stored events. The row can contain anything, so invalid lines are ignored. */
export function readEvents(statements: PoolStatements): RecentEvents {
	const raw = statements.poolValue.get(rowName)?.['raw'];
	return (typeof raw === 'string' ? parse(raw) : undefined) ?? none;
}

/** Adds an event inside a transaction. Returns the stored events. */
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

/** Returns the line of a signal. No two lines are equal, so a writer recognizes its own. */
const encodeSignal = ({sequence, recent}: RecentEvents): string => {
	const line = (events: readonly string[]): string =>
		`${JSON.stringify({sequence, recent: events, nonce: Math.random()})}\n`;
	const whole = line(recent.slice(-signalledCount));
	return Buffer.byteLength(whole) > longestSignalBytes ? line([]) : whole;
};

/** Decodes a signal of another process. Every account of the pool can write here, so a signal only wakes readers. */
export const decodeSignal = (text: string): RecentEvents | undefined => parse(text);

/**
Signals events to listeners and returns the text. Called while the database is still locked, so that the last signal is from the last change. Only a
hint: if the file cannot be written, listeners poll the database now and then.
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
				// A file with a second name, so another file would be overwritten.
				return text;
			}

			// The rest of a longer line is cut off afterwards. Until then, readers stop at the end of the line.
			ftruncateSync(descriptor, writeSync(descriptor, text, 0));
		} finally {
			closeSync(descriptor);
		}
	} catch {}

	return text;
}

/** A buffer for all reads, which are synchronous. */
const signalBytes = Buffer.alloc(longestSignalBytes);

/** Returns the last signal, or undefined if the file does not exist. */
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
