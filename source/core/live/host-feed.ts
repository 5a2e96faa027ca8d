/** Follows other hosts. Each host has one connection, which stays open while its answers are used. Hosts with an older version are polled instead. */
import {CanhazgpuError} from '../../errors.js';
import type {Clock} from '../model/ports.js';

type HostFeedOptions<Value> = {
	/** Calls `onValue` with each status. Rejects with a CanhazgpuError when the connection ends. Resolves with `unsupported` for an older version. */
	readonly open: (name: string, onValue: (value: Value) => void, signal: AbortSignal) => Promise<'unsupported'>;
	/** Asks a host for its status once. Rejects with a CanhazgpuError if the host does not answer in time. */
	readonly askOnce: (name: string, signal: AbortSignal) => Promise<Value>;
	/** Called with the name of a host that has a new answer or stopped answering. */
	readonly onUpdate?: (name: string) => void;
	readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
	readonly broken: (error: unknown) => void;
};

export type HostFeed<Value> = {
	/** Returns the host's last answer. Rejects with a CanhazgpuError if the host has not answered for too long. */
	readonly ask: (name: string) => Promise<Value>;
	readonly stop: () => void;
};

/** A healthy host sends something every 5 s. A host that sends nothing for longer than this is considered hung. */
const silentMs = 15_000;
/** Time limit for the first answer, which includes the login. */
const firstMs = 15_000;
/** How long an answer is reused if the answer is an error or the host is polled. */
const againMs = 10_000;
/** A connection is closed when nobody has asked for its answers for this long. */
const idleMs = 20_000;
/**
How long a host is assumed to have a version without `--follow`. After this time, a connection is tried again,
because the host may have been updated.
*/
const unsupportedMs = 10 * 60_000;

type Answer<Value> = {readonly value: Value} | {readonly error: CanhazgpuError};

type Connection<Value> = {
	readonly controller: AbortController;
	latest?: {readonly answer: Answer<Value>; readonly atMs: number};
	askedMs: number;
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

	function close(name: string, connection: Connection<Value>, answer: Answer<Value>): void {
		if (connections.get(name) === connection) {
			connections.delete(name);
		}

		connection.next.resolve(answer);
		connection.controller.abort();
	}

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
