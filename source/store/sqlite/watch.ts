/** Checks a few times a second whether other processes have changed a file, and notifies listeners. */
import type {StoreListener} from '../../core/model/ports.js';
import type {PoolEvent} from '../../core/model/types.js';
import {CanhazgpuError} from '../../errors.js';
import {explain, isBusy} from './failures.js';

const pollIntervalMs = 200;

type Watched = {
	readonly path: string;
	/** Returns a value that is different after a change. Called five times a second, so it must be cheap. Throws if the file is gone. */
	readonly mark: () => string;
	/**
	Finds out what has changed, and calls {@link Watch.publish}. Called for the first subscription, after `mark` has changed, and when a missing file is
	back. After the return of a missing file, listeners read everything anyway.
	*/
	readonly check: (occasion: Occasion) => Promise<void>;
};

type Occasion = 'begin' | 'change' | 'return';

export class Watch {
	readonly #watched: Watched;
	readonly #listeners = new Set<StoreListener>();
	#timer: NodeJS.Timeout | undefined;
	#mark: string | undefined;
	#isLost = false;
	#isChecking = false;

	constructor(watched: Watched) {
		this.#watched = watched;
	}

	async #poll(): Promise<void> {
		if (this.#isChecking) {
			return;
		}

		this.#isChecking = true;
		try {
			const mark = this.#watched.mark();
			if (mark !== this.#mark || this.#isLost) {
				await this.#watched.check(this.#isLost ? 'return' : 'change');
				this.#mark = mark;
			}

			if (this.#isLost) {
				this.#isLost = false;
				this.publish((listener) => listener.restored?.());
			}
		} catch (error) {
			if (!isBusy(error)) {
				this.#lose(error);
			}
		} finally {
			this.#isChecking = false;
		}
	}

	#lose(error: unknown): void {
		if (this.#isLost) {
			return;
		}

		this.#isLost = true;
		const reason = explain(error, this.#watched.path);
		this.publish((listener) => listener.lost?.(reason instanceof CanhazgpuError ? reason.message : String(reason)));
	}

	publish(how: (listener: StoreListener) => void): void {
		for (const listener of this.#listeners) {
			how(listener);
		}
	}

	/** Notifies all listeners of a change. `event` is undefined if it is unknown what has changed. */
	publishChange(event: PoolEvent | undefined): void {
		this.publish((listener) => {
			listener.changed(event);
		});
	}

	/** Subscribes a listener, which is notified of everything that happens after this resolves. Returns a function that unsubscribes it. */
	async add(listener: StoreListener): Promise<() => void> {
		// Copies the listener, because the same object may subscribe twice and unsubscribe once.
		const subscription = {...listener};
		if (this.#timer === undefined) {
			const mark = this.#watched.mark();
			await this.#watched.check('begin');
			this.#mark = mark;
		}

		this.#listeners.add(subscription);
		this.#pollLater();
		return () => {
			this.#listeners.delete(subscription);
			if (this.#listeners.size === 0) {
				this.stop();
			}
		};
	}

	#pollLater(): void {
		const mayBeLateMs = [...this.#listeners].map((listener) => listener.tolerableDelayMs?.() ?? 0);
		clearTimeout(this.#timer);
		this.#timer = setTimeout(
			() => {
				this.#pollLater();
				void this.#poll();
			},
			Math.max(pollIntervalMs, Math.min(...mayBeLateMs)),
		);
		// A subscription alone must not keep the process running.
		this.#timer.unref();
	}

	stop(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#listeners.clear();
	}
}
