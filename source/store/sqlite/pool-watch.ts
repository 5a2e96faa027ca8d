/** Notifies listeners of events in the pool: immediately for events of this process, and within a fifth of a second for events of other processes. */
import {statSync} from 'node:fs';
import type {StoreListener} from '../../core/model/ports.js';
import {decodeEvent} from '../records/index.js';
import type {Database} from './database.js';
import {databaseProblem} from './failures.js';
import {decodeSignal, readEvents, readSignal, type RecentEvents} from './events.js';
import type {poolStatements} from './statements.js';
import {Watch} from './watch.js';

/** Time after which changes without a signal are noticed. A signal is missing if a process was killed after its commit, for example. */
const unsignalledMs = 20_000;

type PoolWatch = {
	readonly add: (listener: StoreListener) => Promise<() => void>;
	/** Publishes an event of this process. `signalled` is the line in the signal file. */
	readonly publishOwn: (event: string, sequence: number, signalled: string) => void;
	readonly stop: () => void;
};

export function createPoolWatch(database: Database<keyof typeof poolStatements>): PoolWatch {
	const {path} = database;
	let identity: string | undefined;
	let sequence = 0;
	let ownSignal: string | undefined;
	/** False if the database must be read, because it has changed, possibly without a signal. */
	let isSignalEnough = true;
	let lastChange: {readonly atMs: number; readonly change: string} | undefined;

	const fileNow = () => {
		const status = statSync(path, {throwIfNoEntry: false, bigint: true});
		if (status === undefined) {
			throw databaseProblem(path, ['was removed', 'Make it again: canhazgpu admin --store embedded']);
		}

		return {identity: `${status.dev}:${status.ino}`, change: `${status.mtimeNs}:${status.size}`};
	};

	const publishNew = ({sequence: newest, recent}: RecentEvents, missed: number): void => {
		const missedEvents = missed > recent.length ? [''] : recent.slice(recent.length - missed);
		sequence = newest;
		for (const raw of missedEvents) {
			watch.publishChange(raw === '' ? undefined : decodeEvent(raw));
		}
	};

	const watch = new Watch({
		path,
		mark() {
			const file = fileNow();
			const nowMs = performance.now();
			if (lastChange === undefined || nowMs - lastChange.atMs > unsignalledMs) {
				isSignalEnough &&= lastChange === undefined || lastChange.change === file.change;
				lastChange = {atMs: nowMs, change: file.change};
			}

			return `${file.identity} ${lastChange.change} ${readSignal(path) ?? file.change}`;
		},
		async check(occasion) {
			const file = fileNow();
			const isSignalled = isSignalEnough;
			isSignalEnough = true;
			if (occasion === 'change' && isSignalled && file.identity === identity) {
				const signalled = readSignal(path) ?? '';
				if (signalled !== '' && signalled === ownSignal) {
					return;
				}

				const said = decodeSignal(signalled);
				const missedBySignal = said === undefined ? 0 : said.sequence - sequence;
				if (said !== undefined && missedBySignal > 0 && missedBySignal <= said.recent.length) {
					publishNew(said, missedBySignal);
					return;
				}
			}

			const events = await database.read((statements) => readEvents(statements));
			const missed = events.sequence - sequence;
			const isOther = file.identity !== identity || missed < 0;
			identity = file.identity;
			if (occasion === 'change' && !isOther) {
				publishNew(events, missed);
				return;
			}

			sequence = events.sequence;
			if (occasion === 'change') {
				// The file contains another pool or an older state of this pool, so listeners must read everything again.
				watch.publish((listener) => listener.restored?.());
			}
		},
	});
	return {
		add: async (listener) => watch.add(listener),
		publishOwn(raw, ownSequence, signalled) {
			// If other processes had events before this event, all events are published when the signal is read.
			if (ownSequence === sequence + 1) {
				sequence = ownSequence;
				ownSignal = signalled;
			}

			watch.publishChange(decodeEvent(raw));
		},
		stop() {
			watch.stop();
		},
	};
}
