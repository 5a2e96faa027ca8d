/** Connects to Redis, with clear errors. ioredis restores lost connections. This class decides which operations wait meanwhile, and for how long. */
import {once, setMaxListeners} from 'node:events';
import {setTimeout as sleep} from 'node:timers/promises';
import type {Redis} from 'ioredis';
import type {CanhazgpuError} from '../../errors.js';
import type {Endpoint} from './address.js';
import {createClient} from './client.js';
import {
	EndlessAnswer,
	hasTimedOut,
	isCut,
	isMistake,
	isReply,
	lostAnswer,
	reasonOf,
	refusal,
	retryOf,
	unreachable,
} from './failures.js';

/** Time limit for one operation, and for opening the connection. */
const patienceMs = 5000;

/** How long operations wait for the connection after a loss. Operations after this time fail at once. On a busy machine, 1.5 s can be too short. */
const graceMs = 3000;

/** Maximum size of an answer, far more than any answer has. The parser keeps an answer in memory until it is complete. */
const mostAnswerBytes = 67_108_864;

const longestRetryMs = 2000;
const shortPauseMs = 100;

type ConnectionHooks = {
	/** Whether to reconnect forever. Otherwise the connection is given up soon after a loss. */
	readonly keepReconnecting: boolean;
	/** Called with each new connection, before other commands. */
	readonly prepare: (client: Redis) => Promise<unknown>;
	/** Whether opening waits for `prepare`. After a reconnection, operations always wait for `prepare`. */
	readonly preparesFirst: boolean;
	readonly lost?: (reason: string) => void;
	readonly restored?: () => void;
};

export class Connection {
	readonly endpoint: Endpoint;
	readonly #hooks: ConnectionHooks;
	readonly #changes = new EventTarget();
	#isClosed = false;
	#isUp = false;
	#wasUp = false;
	#downSince = 0;
	#lastError: unknown;
	#unreadBytes = 0;
	#refusal: CanhazgpuError | undefined;
	readonly client: Redis;
	/** Whether a password is configured, but the server has none. */
	isPasswordUnneeded = false;

	constructor(endpoint: Endpoint, hooks: ConnectionHooks) {
		this.endpoint = endpoint;
		this.#hooks = hooks;
		setMaxListeners(0, this.#changes);
		this.client = createClient(endpoint, {
			retryDelay: (times) => this.#retryDelay(times),
			passwordUnneeded: () => {
				this.isPasswordUnneeded = true;
			},
		});
		this.client.on('connect', () => {
			this.#refusal = undefined;
			this.#boundAnswers();
		});
		this.client.on('messageBuffer', () => {
			this.#unreadBytes = 0;
		});
		this.client.on('error', (error: unknown) => {
			this.#noteError(error);
		});
		this.client.on('ready', () => {
			void this.#becomeUp();
		});
		this.client.on('close', () => {
			this.#becomeDown();
		});
		this.client.on('end', () => {
			this.#changes.dispatchEvent(new Event('change'));
		});
	}

	/** Disconnects from a server that sends an endless answer. The received bytes are counted again from zero after each complete answer. */
	#boundAnswers(): void {
		const {stream} = this.client;
		this.#unreadBytes = 0;
		stream.prependListener('data', (data: Uint8Array) => {
			this.#unreadBytes += data.length;
			if (this.#unreadBytes > mostAnswerBytes) {
				stream.destroy(new EndlessAnswer());
			}
		});
	}

	/** Handles a missing answer: decides whether to send the command again. */
	#afterSilence(
		error: unknown,
		stream: Redis['stream'],
		{isRepeatable, isLate}: {readonly isRepeatable: boolean; readonly isLate: boolean},
	): void {
		const isEndless = this.#lastError instanceof EndlessAnswer;
		const cause = isEndless ? this.#lastError : error;
		const isSilent = hasTimedOut(error);
		if (isSilent) {
			// If nothing has arrived within the time limit, the connection may be dead although no error was reported.
			this.#lastError = error;
			this.#reconnect(stream);
		}

		if (!isRepeatable) {
			throw lostAnswer(this.endpoint, reasonOf(cause));
		}

		if (isSilent || isLate || isEndless) {
			throw unreachable(this.endpoint, cause);
		}
	}

	/** Replaces this stream with a new connection, unless another command has already done so. */
	#reconnect(stream: Redis['stream']): void {
		if (this.client.stream !== stream) {
			return;
		}

		this.#becomeDown();
		this.client.disconnect(true);
	}

	#retryDelay(times: number): number | undefined {
		// The first attempt is planned before the loss is noted.
		const isOver = !this.#hooks.keepReconnecting && !this.#isUp && performance.now() - this.#downSince > graceMs;
		return this.#isClosed || !this.#wasUp || isOver
			? undefined
			: Math.min(longestRetryMs, 20 * 2 ** times) * (0.5 + Math.random() / 2);
	}

	#noteError(error: unknown): void {
		// The cause of the loss is more useful to the user than the loss itself.
		if (!isCut(error) || this.#lastError === undefined) {
			this.#lastError = error;
		}

		if (isReply(error) && retryOf(error) === undefined) {
			this.#refusal = refusal(error, this.endpoint);
		}

		// Disconnects, because the client would continue in database 0 if it cannot select the configured one.
		if (this.#refusal !== undefined || this.client.status === 'connect') {
			this.client.disconnect(this.#wasUp);
		}
	}

	async #becomeUp(): Promise<void> {
		const {stream} = this.client;
		const prepared = this.#hooks.prepare(this.client);
		if (this.#wasUp || this.#hooks.preparesFirst) {
			try {
				await prepared;
				this.#lastError = undefined;
			} catch (error) {
				this.#noteError(error);
				this.client.disconnect(this.#wasUp);
				return;
			}
		} else {
			prepared.catch(() => undefined);
		}

		if (this.#refusal !== undefined || this.client.status !== 'ready' || this.client.stream !== stream) {
			return;
		}

		const isBack = this.#wasUp;
		this.#isUp = true;
		this.#wasUp = true;
		this.#changes.dispatchEvent(new Event('change'));
		if (isBack) {
			this.#hooks.restored?.();
		}
	}

	#becomeDown(): void {
		if (!this.#isUp) {
			return;
		}

		this.#isUp = false;
		this.#downSince = performance.now();
		if (!this.#isClosed) {
			this.#hooks.lost?.(reasonOf(this.#lastError));
		}
	}

	async #untilUp(deadline: number): Promise<void> {
		while (!this.#isUp) {
			const patience = this.#wasUp ? this.#downSince + graceMs : Infinity;
			const remaining = Math.min(deadline, patience, performance.now() + patienceMs) - performance.now();
			if (remaining <= 0 || this.#isClosed || this.client.status === 'end') {
				throw this.#failure();
			}

			try {
				await once(this.#changes, 'change', {signal: AbortSignal.timeout(Math.ceil(remaining))});
			} catch {}
		}
	}

	#failure(): CanhazgpuError {
		return this.#refusal ?? unreachable(this.endpoint, this.#lastError);
	}

	/** Opens the connection. Must be called only once. Rejects with a CanhazgpuError within about 5 s. */
	async open(): Promise<void> {
		const timer = setTimeout(() => {
			this.#lastError = new Error('Opening timed out');
			this.client.disconnect();
		}, patienceMs);
		try {
			await this.client.connect();
			await this.#untilUp(Infinity);
		} catch {
			this.close();
			throw this.#failure();
		} finally {
			clearTimeout(timer);
		}
	}

	/** Sends a command. After a short loss, a failover or loading, repeats a command that was not executed or that can harmlessly be repeated. */
	async run<Result>(
		send: (client: Redis) => Promise<Result>,
		{isRepeatable}: {readonly isRepeatable: boolean},
	): Promise<Result> {
		const deadline = performance.now() + patienceMs;
		for (;;) {
			if (!this.#isUp) {
				await this.#untilUp(deadline);
			}

			const {stream} = this.client;
			try {
				const result = await send(this.client);
				this.#lastError = undefined;
				this.#unreadBytes = 0;
				return result;
			} catch (error) {
				if (isMistake(error)) {
					throw error;
				}

				const retry = retryOf(error);
				const isLate = performance.now() + shortPauseMs > deadline;
				if (isReply(error) && (retry === undefined || isLate)) {
					throw refusal(error, this.endpoint);
				}

				if (retry === 'elsewhere') {
					this.#reconnect(stream);
				} else if (retry === undefined) {
					const wasSent = !(error as Error).message.includes('writeable');
					this.#afterSilence(error, stream, {isRepeatable: isRepeatable || !wasSent, isLate});
				}

				await sleep(shortPauseMs);
			}
		}
	}

	close(): void {
		this.#isClosed = true;
		this.client.disconnect();
		this.#changes.dispatchEvent(new Event('change'));
	}
}
