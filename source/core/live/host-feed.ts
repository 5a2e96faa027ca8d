/**
What other hosts tell of themselves, over one connection each that stays open while somebody asks for it. A host of an older version, which
tells nothing by itself, is asked now and then.
*/
import {CanhazgpuError} from '../../errors.js';
import type {Clock} from '../model/ports.js';

export type HostFeedOptions<Told> = {
	/**
	Opens a connection. `told` is called with all that the host tells.

	@returns `unsupported` where the host knows no such thing. Rejects with a CanhazgpuError, in words, when it ends otherwise.
	*/
	readonly open: (name: string, told: (value: Told) => void, signal: AbortSignal) => Promise<'unsupported'>;
	/** Asks once. Rejects with a CanhazgpuError within a time that is bounded. */
	readonly askOnce: (name: string, signal: AbortSignal) => Promise<Told>;
	/** Told which host has something new to say, or says nothing any more. */
	readonly news?: (name: string) => void;
	readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
	/** Told of a bug. */
	readonly broken: (error: unknown) => void;
};

export type HostFeed<Told> = {
	/** The last that the host told. Rejects with a CanhazgpuError, in words, when it tells nothing for too long. */
	readonly ask: (name: string) => Promise<Told>;
	/** Ends all connections. */
	readonly stop: () => void;
};

/** A host that tells nothing for so long hangs. It tells something every 5 s. */
const silentMs = 15_000;
/** The first answer, with the login before it, may take so long. */
const firstMs = 15_000;
/** A host that failed is not asked again for so long, and neither is one that must be asked. */
const againMs = 10_000;
/** A connection for which nobody asks is closed after this long. */
const idleMs = 20_000;
/** The host may be updated meanwhile. */
const unsupportedMs = 10 * 60_000;

type Answer<Told> = {readonly value: Told} | {readonly error: CanhazgpuError};

type Connection<Told> = {
	readonly controller: AbortController;
	/** The last that was told, and when. */
	latest?: {readonly answer: Answer<Told>; readonly atMs: number};
	askedMs: number;
	/** Resolved with the next that is told, or with the end. */
	next: PromiseWithResolvers<Answer<Told>>;
};

const silence = (name: string): CanhazgpuError =>
	new CanhazgpuError('failed', `${name}: no answer within ${silentMs / 1000} s`);

export function createHostFeed<Told>({
	open,
	askOnce,
	news = () => undefined,
	clock,
	broken,
}: HostFeedOptions<Told>): HostFeed<Told> {
	const connections = new Map<string, Connection<Told>>();
	/** The last answer of hosts that failed or must be asked, kept for a while. */
	const kept = new Map<string, {readonly answer: Answer<Told>; readonly untilMs: number}>();
	const unsupportedUntilMs = new Map<string, number>();
	const asking = new Map<string, Promise<Answer<Told>>>();
	const stopped = new AbortController();

	const keep = (name: string, answer: Answer<Told>): Answer<Told> => {
		kept.set(name, {answer, untilMs: clock.monotonicMs() + againMs});
		return answer;
	};

	async function answerOf(ask: () => Promise<Told>): Promise<Answer<Told>> {
		try {
			return {value: await ask()};
		} catch (error) {
			if (error instanceof CanhazgpuError) {
				return {error};
			}

			throw error;
		}
	}

	async function askNow(name: string): Promise<Answer<Told>> {
		try {
			return keep(name, await answerOf(async () => askOnce(name, stopped.signal)));
		} finally {
			asking.delete(name);
		}
	}

	/** Ends the connection: all who wait for its next word are told. */
	function close(name: string, connection: Connection<Told>, answer: Answer<Told>): void {
		if (connections.get(name) === connection) {
			connections.delete(name);
		}

		connection.next.resolve(answer);
		connection.controller.abort();
	}

	/** Closes the connection when the host falls silent, and when nobody asks any more. */
	async function supervise(name: string, connection: Connection<Told>): Promise<void> {
		const {signal} = connection.controller;
		const openedMs = clock.monotonicMs();
		for (;;) {
			const {latest, askedMs} = connection;
			const silentAtMs = latest === undefined ? openedMs + firstMs : latest.atMs + silentMs;
			const nowMs = clock.monotonicMs();
			if (nowMs >= silentAtMs) {
				close(name, connection, keep(name, {error: silence(name)}));
				news(name);
			} else if (nowMs >= askedMs + idleMs) {
				close(name, connection, {error: silence(name)});
			}

			if (signal.aborted) {
				return;
			}

			await clock.sleep(Math.min(silentAtMs, askedMs + idleMs) - nowMs, signal).catch(() => undefined);
		}
	}

	async function run(name: string, connection: Connection<Told>): Promise<void> {
		const ended = await answerOf(async () => {
			await open(
				name,
				(value) => {
					const answer = {value};
					connection.latest = {answer, atMs: clock.monotonicMs()};
					connection.next.resolve(answer);
					connection.next = Promise.withResolvers();
					news(name);
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
		news(name);
	}

	function connect(name: string): Connection<Told> {
		const controller = new AbortController();
		const connection: Connection<Told> = {
			controller,
			askedMs: clock.monotonicMs(),
			next: Promise.withResolvers(),
		};
		connections.set(name, connection);
		run(name, connection).catch(broken);
		supervise(name, connection).catch(broken);
		return connection;
	}

	async function lastAnswer(name: string): Promise<Answer<Told>> {
		const nowMs = clock.monotonicMs();
		const known = kept.get(name);
		if (known !== undefined && nowMs < known.untilMs) {
			return known.answer;
		}

		if (nowMs < (unsupportedUntilMs.get(name) ?? -Infinity)) {
			const asked = asking.get(name) ?? askNow(name);
			asking.set(name, asked);
			return asked;
		}

		const connection = connections.get(name) ?? connect(name);
		connection.askedMs = nowMs;
		return connection.latest?.answer ?? connection.next.promise;
	}

	return {
		async ask(name) {
			const told = await lastAnswer(name);
			if ('error' in told) {
				throw told.error;
			}

			return told.value;
		},
		stop() {
			stopped.abort();
			for (const [name, connection] of connections) {
				close(name, connection, {error: silence(name)});
			}
		},
	};
}
