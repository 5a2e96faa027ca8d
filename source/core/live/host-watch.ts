/**
The other hosts as a face watches them: however many subscribe, each is asked once at a time, a dead one delays only its own answer, and while
no one subscribes none is asked.
*/
import {CanhazgpuError} from '../../errors.js';
import type {Clock} from '../model/ports.js';

type HostAnswer<Status> = {readonly status: Status} | {readonly error: string};

/** An answer, and when it came. An answer that a host gives again, as the same object, keeps its age. */
type Dated<Answer> = {readonly answer: Answer; readonly answeredMs: number};

/** The last answer of a host, and, where that is no status, the last status before it. */
export type KnownHost<Status> = Dated<HostAnswer<Status>> & {
	readonly name: string;
	readonly before?: Dated<{readonly status: Status}>;
};

export type HostWatch<Status> = {
	readonly names: readonly string[];
	/** An answer that is not old. Never rejects for a host's sake. Undefined for a host that is not one of them. */
	readonly answer: (name: string) => Promise<HostAnswer<Status> | undefined>;
	/** The last answers, however old, of those that ever gave one. */
	readonly known: () => ReadonlyArray<KnownHost<Status>>;
	/** Asks these hosts again and again, and passes on each answer of any host, until the returned function is called. */
	readonly subscribe: (listener: (host: KnownHost<Status>) => void, names?: readonly string[]) => () => void;
	/** Asks a host that is known to have a new answer at once, for those who subscribe. */
	readonly refresh: (name: string) => void;
	/** Ends what is being asked. */
	readonly stop: () => void;
};

export type HostWatchOptions<Status> = {
	readonly names: readonly string[];
	/** Rejects with a CanhazgpuError, in words, within a time that is bounded. */
	readonly ask: (name: string, signal: AbortSignal) => Promise<Status>;
	readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
	/** Milliseconds between two rounds. Each round asks the hosts that have answered the previous one. */
	readonly roundMs: number;
	/** Gets an error that is a bug. */
	readonly broken: (error: unknown) => void;
};

/** Everybody else who asks within this time gets the same answer. */
const rememberMs = 5000;

export function watchHosts<Status>({names, ask, clock, roundMs, broken}: HostWatchOptions<Status>): HostWatch<Status> {
	const known = new Map<string, KnownHost<Status>>();
	const pending = new Map<string, Promise<HostAnswer<Status>>>();
	const listeners = new Set<(host: KnownHost<Status>) => void>();
	const subscriptions = new Set<AbortController>();
	const stopped = new AbortController();

	async function askNow(name: string): Promise<HostAnswer<Status>> {
		try {
			return {status: await ask(name, stopped.signal)};
		} catch (error) {
			if (error instanceof CanhazgpuError) {
				return {error: error.message};
			}

			throw error;
		}
	}

	/** The status to remember when the next answer is a failure: the last one, or what the last failure remembers. */
	function statusBefore(name: string): KnownHost<Status>['before'] {
		const last = known.get(name);
		return last !== undefined && 'status' in last.answer
			? {answer: last.answer, answeredMs: last.answeredMs}
			: last?.before;
	}

	async function askAndPublish(name: string): Promise<HostAnswer<Status>> {
		try {
			const answer = await askNow(name);
			const last = known.get(name);
			const isSame =
				last !== undefined && 'status' in answer && 'status' in last.answer && answer.status === last.answer.status;
			const host = isSame
				? last
				: {
						name,
						answer,
						answeredMs: clock.monotonicMs(),
						before: 'status' in answer ? undefined : statusBefore(name),
					};
			known.set(name, host);
			for (const listener of listeners) {
				listener(host);
			}

			return answer;
		} finally {
			pending.delete(name);
		}
	}

	/** A caller that asks while it is being asked gets the answer that is on its way. */
	async function answerOf(name: string, oldestMs: number): Promise<HostAnswer<Status>> {
		const last = known.get(name);
		if (last !== undefined && clock.monotonicMs() - last.answeredMs < oldestMs) {
			return last.answer;
		}

		const asked = pending.get(name) ?? askAndPublish(name);
		pending.set(name, asked);
		return asked;
	}

	async function keepAsking(wanted: readonly string[], signal: AbortSignal): Promise<void> {
		while (!signal.aborted) {
			for (const name of wanted) {
				// Not waited for: one that hangs is asked again when it has answered, and delays no other.
				answerOf(name, Math.min(rememberMs, roundMs / 2)).catch(broken);
			}

			// The sleep was aborted: no one subscribes any more.
			await clock.sleep(roundMs, signal).catch(() => undefined);
		}
	}

	return {
		names,
		answer: async (name) => (names.includes(name) ? answerOf(name, rememberMs) : undefined),
		known: () => names.flatMap((name) => known.get(name) ?? []),
		subscribe(listener, wanted = names) {
			const subscription = new AbortController();
			subscriptions.add(subscription);
			listeners.add(listener);
			void keepAsking(wanted, subscription.signal);
			return () => {
				listeners.delete(listener);
				subscriptions.delete(subscription);
				subscription.abort();
			};
		},
		refresh(name) {
			if (subscriptions.size > 0 && names.includes(name)) {
				answerOf(name, 0).catch(broken);
			}
		},
		stop() {
			listeners.clear();
			for (const subscription of [...subscriptions, stopped]) {
				subscription.abort();
			}
		},
	};
}
