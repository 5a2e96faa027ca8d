/** Watches other hosts. A host is asked once for all subscribers, and no host is asked while there are no subscribers. */
import {CanhazgpuError} from '../../errors.js';
import type {Clock} from '../model/ports.js';

type HostAnswer<Status> = {readonly status: Status} | {readonly error: string};

/** An answer and the time at which it arrived. If a host returns the same object again, the time stays the same. */
type Dated<Answer> = {readonly answer: Answer; readonly answeredMs: number};

/** The last answer of a host. If the last answer is an error, `before` holds the last status. */
export type KnownHost<Status> = Dated<HostAnswer<Status>> & {
	readonly name: string;
	readonly before?: Dated<{readonly status: Status}>;
};

export type HostWatch<Status> = {
	readonly names: readonly string[];
	/** Returns a recent answer of the host. Failures of the host are part of the answer. Undefined for an unknown host. */
	readonly answer: (name: string) => Promise<HostAnswer<Status> | undefined>;
	/** Returns the last answer of each host that has ever answered, no matter how old it is. */
	readonly known: () => ReadonlyArray<KnownHost<Status>>;
	/** Polls the hosts in `names` until the returned function is called. The listener gets every answer, even of hosts that are not in `names`. */
	readonly subscribe: (listener: (host: KnownHost<Status>) => void, names?: readonly string[]) => () => void;
	/** Asks a host at once if there are subscribers. Called when the host has a new answer. */
	readonly refresh: (name: string) => void;
	readonly stop: () => void;
};

export type HostWatchOptions<Status> = {
	readonly names: readonly string[];
	/** Asks a host. Rejects with a CanhazgpuError if the host does not answer in time. */
	readonly ask: (name: string, signal: AbortSignal) => Promise<Status>;
	readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
	/** Milliseconds between the starts of two rounds of requests. A round skips hosts that have not answered the previous request yet. */
	readonly roundMs: number;
	readonly broken: (error: unknown) => void;
};

/** An answer is reused for all questions within this time. */
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

	/** Returns the known answer if it is recent enough, or else asks the host. Concurrent callers share one request. */
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
				// Not awaited, so that a host that hangs does not delay the others.
				answerOf(name, Math.min(rememberMs, roundMs / 2)).catch(broken);
			}

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
