/**
Follows other hosts, over one connection each that stays open while somebody asks for its answers. A host of an older version, which sends
nothing by itself, is asked now and then.
*/
import {CanhazgpuError} from '../../errors.js';
import type {Clock} from '../model/ports.js';

type HostFeedOptions<Value> = {
	/**
	Opens a connection. `onValue` is called with each status that the host sends.

	@returns `unsupported` where the host knows no such thing. Rejects with a CanhazgpuError, in words, when it ends otherwise.
	*/
	readonly open: (name: string, onValue: (value: Value) => void, signal: AbortSignal) => Promise<'unsupported'>;
	/** Asks once. Rejects with a CanhazgpuError within a time that is bounded. */
	readonly askOnce: (name: string, signal: AbortSignal) => Promise<Value>;
	/** Called with the name of a host that has a new answer, or that answers no more. */
	readonly onUpdate?: (name: string) => void;
	readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
	/** Gets an error that is a bug. */
	readonly broken: (error: unknown) => void;
};

export type HostFeed<Value> = {
	/** The last answer of the host. Rejects with a CanhazgpuError, in words, when none comes for too long. */
	readonly ask: (name: string) => Promise<Value>;
	/** Ends all connections. */
	readonly stop: () => void;
};

/** A host that sends nothing for so long hangs: a healthy one sends something every 5 s. */
const silentMs = 15_000;
/** The first answer, with the login before it, may take so long. */
const firstMs = 15_000;
/** A host that failed is not asked again for so long, and neither is one that must be asked. */
const againMs = 10_000;
/** A connection for which no one asks is closed after this long. */
const idleMs = 20_000;
/** A host that cannot be followed is tried again after this long: it may have been updated. */
const unsupportedMs = 10 * 60_000;

type Answer<Value> = {readonly value: Value} | {readonly error: CanhazgpuError};

type Connection<Value> = {
	readonly controller: AbortController;
	/** The last answer, and when it came. */
	latest?: {readonly answer: Answer<Value>; readonly atMs: number};
	askedMs: number;
	/** Resolved with the next answer, or with the end of the connection. */
	next: PromiseWithResolvers<Answer<Value>>;
};

const silence = (name: string): CanhazgpuError =>
	new CanhazgpuError('failed', `${name}: no answer within ${silentMs / 1000} s`);

export function createHostFeed<Value>({
	open,
	askOnce,
	onUpdate = () => undefined,
	clock,
	broken,
}: HostFeedOptions<Value>): HostFeed<Value> {
	const connections = new Map<string, Connection<Value>>();
	/** The last answer of hosts that failed or must be asked, kept for a while. */
	const kept = new Map<string, {readonly answer: Answer<Value>; readonly untilMs: number}>();
	const unsupportedUntilMs = new Map<string, number>();
	const pending = new Map<string, Promise<Answer<Value>>>();
	const stopped = new AbortController();

	const keep = (name: string, answer: Answer<Value>): Answer<Value> => {
		kept.set(name, {answer, untilMs: clock.monotonicMs() + againMs});
		return answer;
	};

	async function answerOf(ask: () => Promise<Value>): Promise<Answer<Value>> {
		try {
			return {value: await ask()};
		} catch (error) {
			if (error instanceof CanhazgpuError) {
				return {error};
			}

			throw error;
		}
	}

	async function askNow(name: string): Promise<Answer<Value>> {
		try {
			return keep(name, await answerOf(async () => askOnce(name, stopped.signal)));
		} finally {
			pending.delete(name);
		}
	}

	/** Ends the connection: all who wait for its next answer get this one. */
	function close(name: string, connection: Connection<Value>, answer: Answer<Value>): void {
		if (connections.get(name) === connection) {
			connections.delete(name);
		}

		connection.next.resolve(answer);
		connection.controller.abort();
	}

	/** Closes the connection when the host falls silent, and when no one asks any more. */
	async function supervise(name: string, connection: Connection<Value>): Promise<void> {
		const {signal} = connection.controller;
		const openedMs = clock.monotonicMs();
		for (;;) {
			const {latest, askedMs} = connection;
			const silentAtMs = latest === undefined ? openedMs + firstMs : latest.atMs + silentMs;
			const nowMs = clock.monotonicMs();
			if (nowMs >= silentAtMs) {
				close(name, connection, keep(name, {error: silence(name)}));
				onUpdate(name);
			} else if (nowMs >= askedMs + idleMs) {
				close(name, connection, {error: silence(name)});
			}

			if (signal.aborted) {
				return;
			}

			await clock.sleep(Math.min(silentAtMs, askedMs + idleMs) - nowMs, signal).catch(() => undefined);
		}
	}

	async function run(name: string, connection: Connection<Value>): Promise<void> {
		const ended = await answerOf(async () => {
			await open(
				name,
				(value) => {
					const answer = {value};
					connection.latest = {answer, atMs: clock.monotonicMs()};
					connection.next.resolve(answer);
					connection.next = Promise.withResolvers();
					onUpdate(name);
				},
				connection.controller.signal,
			);
			unsupportedUntilMs.set(name, clock.monotonicMs() + unsupportedMs);
			return askOnce(name, stopped.signal);
		});
		if (connection.controller.signal.aborted) {
			return;
		}

		close(name, connection, keep(name, ended));
		onUpdate(name);
	}

	function connect(name: string): Connection<Value> {
		const controller = new AbortController();
		const connection: Connection<Value> = {
			controller,
			askedMs: clock.monotonicMs(),
			next: Promise.withResolvers(),
		};
		connections.set(name, connection);
		run(name, connection).catch(broken);
		supervise(name, connection).catch(broken);
		return connection;
	}

	async function lastAnswer(name: string): Promise<Answer<Value>> {
		const nowMs = clock.monotonicMs();
		const known = kept.get(name);
		if (known !== undefined && nowMs < known.untilMs) {
			return known.answer;
		}

		if (nowMs < (unsupportedUntilMs.get(name) ?? -Infinity)) {
			const asked = pending.get(name) ?? askNow(name);
			pending.set(name, asked);
			return asked;
		}

		const connection = connections.get(name) ?? connect(name);
		connection.askedMs = nowMs;
		return connection.latest?.answer ?? connection.next.promise;
	}

	return {
		async ask(name) {
			const answer = await lastAnswer(name);
			if ('error' in answer) {
				throw answer.error;
			}

			return answer.value;
		},
		stop() {
			stopped.abort();
			for (const [name, connection] of connections) {
				close(name, connection, {error: silence(name)});
			}
		},
	};
}
