/**
Tells listeners what changed: by this process at once, by others within a fifth of a second.
*/
import type {StoreListener} from '../../core/ports.js';
import type {PoolEvent} from '../../core/types.js';
import {CanhazgpuError} from '../../errors.js';
import type {Database} from './database.js';
import {explain, isBusy} from './failures.js';

const pollIntervalMs = 200;

export class Watch {
	readonly #database: Database;
	readonly #path: string;
	readonly #listeners = new Set<StoreListener>();
	#timer: NodeJS.Timeout | undefined;
	#version: number | undefined;
	#isLost = false;

	constructor(database: Database, path: string) {
		this.#database = database;
		this.#path = path;
	}

	/** SQLite counts the commits of other connections, to this process or not. */
	#readVersion(): number {
		this.#database.checkFile();
		return this.#database.handle.prepare('PRAGMA data_version').get()!['data_version'] as number;
	}

	#poll(): void {
		let version: number;
		try {
			version = this.#readVersion();
		} catch (error) {
			if (!isBusy(error)) {
				this.#lose(error);
			}

			return;
		}

		if (this.#isLost) {
			this.#isLost = false;
			this.#version = version;
			this.#tell((listener) => listener.restored?.());
		} else if (version !== this.#version) {
			this.#version = version;
			this.tell(undefined);
		}
	}

	#lose(error: unknown): void {
		if (this.#isLost) {
			return;
		}

		this.#isLost = true;
		const reason = explain(error, this.#path);
		this.#tell((listener) => listener.lost?.(reason instanceof CanhazgpuError ? reason.message : String(reason)));
	}

	#tell(how: (listener: StoreListener) => void): void {
		for (const listener of this.#listeners) {
			how(listener);
		}
	}

	/** Says that this process changed something. */
	tell(event: PoolEvent | undefined): void {
		this.#tell((listener) => {
			listener.changed(event);
		});
	}

	/** Listens from now on. Returns the way to stop. */
	add(listener: StoreListener): () => void {
		// A copy: one listener may subscribe twice, and each subscription ends apart.
		const subscription = {...listener};
		if (this.#timer === undefined) {
			this.#version = this.#readVersion();
			this.#timer = setInterval(() => {
				this.#poll();
			}, pollIntervalMs);
			// Listening alone is no reason for a process to live on.
			this.#timer.unref();
		}

		this.#listeners.add(subscription);
		return () => {
			this.#listeners.delete(subscription);
			if (this.#listeners.size === 0) {
				this.stop();
			}
		};
	}

	stop(): void {
		clearInterval(this.#timer);
		this.#timer = undefined;
		this.#listeners.clear();
	}
}
