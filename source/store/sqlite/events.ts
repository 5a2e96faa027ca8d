/**
Stores the newest events of the pool in the database, and the last few also in a small signal file, which is cheap to read. Listeners open the
database only if the file lacks events that they have missed. Heartbeats are not events, so they wake no listener.
*/
import {Buffer} from 'node:buffer';
import {closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync} from 'node:fs';
import type {PoolStatements} from './statements.js';

/** Number of events to keep for listeners, which poll every fifth of a second. A listener that has missed more events reads the whole pool. */
const keptCount = 32;

/** Maximum length of an event. A longer event is stored as an empty text, which means that something happened. */
const longestEvent = 4096;

const rowName = 'events';

/** Maximum number of events in the signal file. Usually there are no more in a fifth of a second. */
const signalledCount = 8;

/** Maximum size of the signal file. A larger file is invalid. */
const longestSignalBytes = 8192;

export type RecentEvents = {
	/** Number of events since the pool was created. */
	readonly sequence: number;
	/** The newest events, encoded, oldest first. An event that was too long is an empty text. */
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

/** Reads the events from the database. Any account can write to the row, so invalid lines are ignored. */
export function readEvents(statements: PoolStatements): RecentEvents {
	const raw = statements.poolValue.get(rowName)?.['raw'];
	return (typeof raw === 'string' ? parse(raw) : undefined) ?? none;
}

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

/** Encodes events as the line of the signal file. No two lines are equal, so that a writer recognizes its own line. */
const encodeSignal = ({sequence, recent}: RecentEvents): string => {
	const line = (events: readonly string[]): string =>
		`${JSON.stringify({sequence, recent: events, nonce: Math.random()})}\n`;
	const whole = line(recent.slice(-signalledCount));
	return Buffer.byteLength(whole) > longestSignalBytes ? line([]) : whole;
};

/** Decodes the line of the signal file. Every account of the pool can write to the file, so its contents are only used to wake listeners. */
export const decodeSignal = (text: string): RecentEvents | undefined => parse(text);

/** Writes events to the signal file while the database is locked. Returns the line. A failure only delays listeners: they also check the database. */
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
				// The file has a second name, so writing could overwrite a file outside of the pool.
				return text;
			}

			// Cuts off the rest of a longer previous line. Until then, readers stop at the end of the first line.
			ftruncateSync(descriptor, writeSync(descriptor, text, 0));
		} finally {
			closeSync(descriptor);
		}
	} catch {}

	return text;
}

/** A buffer for all reads, which never overlap, because they are synchronous. */
const signalBytes = Buffer.alloc(longestSignalBytes);

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
