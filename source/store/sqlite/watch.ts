/** Checks a few times a second whether somebody else changed a file, and calls those who listen. */
import type {StoreListener} from '../../core/model/ports.js';
import type {PoolEvent} from '../../core/model/types.js';
import {CanhazgpuError} from '../../errors.js';
import {explain, isBusy} from './failures.js';

const pollIntervalMs = 200;

type Watched = {
	readonly path: string;
	/**
	Anything that is another when something changed. It is asked five times a second, so it must cost next to nothing. It throws when
	the file is gone.
	*/
	readonly mark: () => string;
	/**
	Finds out what changed, and tells it by {@link Watch.publish}. Asked when the listening begins, when the mark changed, and when the file is
	back: then everybody is told to read everything anyway.
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

	/** Calls everybody who listens. */
	publish(how: (listener: StoreListener) => void): void {
		for (const listener of this.#listeners) {
			how(listener);
		}
	}

	/** Tells everybody who listens of a change; undefined: what it was is not known. */
	publishChange(event: PoolEvent | undefined): void {
		this.publish((listener) => {
			listener.changed(event);
		});
	}

	/** Listens from now on: the listener hears of whatever happens after this resolved. Returns the way to stop. Rejects when the file cannot be read. */
	async add(listener: StoreListener): Promise<() => void> {
		// A copy: one listener may subscribe twice, and each subscription ends apart.
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

	/** In time for the least patient of those who listen. */
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
		// Listening alone is no reason for a process to live on.
		this.#timer.unref();
	}

	stop(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#listeners.clear();
	}
}
