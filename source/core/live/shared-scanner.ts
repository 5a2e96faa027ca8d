/** Shares scans among the viewers of a pool. The viewer with the role of the scanner scans for all, and the other viewers show its scans. */
import {withFallback} from '../../errors.js';
import {createWakeSignal} from '../operations/waiting/wake-signal.js';
import {requirePool} from '../rules/pool/pool.js';
import type {GpuProvider, PostedScan, World} from '../model/ports.js';
import {decodeSharedScan, encodeSharedScan, type SharedScan} from '../rules/pool/shared-scan.js';
import type {IdleSpan, Observation, ProviderName} from '../model/types.js';
import {nextIdle} from '../rules/usage/idle.js';
import {planServedModels} from '../rules/processes/served-model.js';
import {isEmpty} from '../model/plan.js';
import {createLoadKeeper, type LoadKeeper} from './load-keeper.js';

/** How long a viewer keeps the scanner role without renewal. The viewer renews the role after a third of this time. */
const roleSeconds = 3;
/** How often a viewer checks whether the role is vacant. */
const tickMs = 500;
/** Maximum age of the first scan that a new viewer shows, in scan intervals. */
const earlierScanIntervals = 2;
/** Maximum age of all later scans, as a fraction of the scan interval. If a scan is older, the viewer waits for the next one. */
const staleShare = 0.25;
/** If the scanner posts no scan for this long, each viewer scans for itself. */
const patienceMs = 15_000;
/** How long a viewer that sees less than others scans only for itself before it tries again to scan for all. Several intervals of `keep`. */
const limitedMs = 120_000;

type SharedScannerOptions = Pick<World, 'store' | 'host' | 'clock' | 'memoryThresholdMiB'> & {
	readonly name: ProviderName;
	readonly intervalMs: number;
	/**
	Creates the provider that scans. Called when this viewer gets the role or the store is unreachable. The provider is
	closed when the role is lost.
	*/
	readonly createScanner: () => GpuProvider;
};

type Seen = {readonly posted: PostedScan; readonly scan: SharedScan};

/** Runs work and ignores failures of the store, because the work is repeated later or is no longer needed. */
const unlessStoreFails = async (work: () => Promise<void>): Promise<void> => withFallback(work, () => undefined);

/** Whether other viewers can see more than a scan of this viewer shows. Other failures than a missing tool concern all viewers. */
const seesLess = ({isPartial, failure, gpus}: Observation, before: SharedScan | undefined): boolean =>
	isPartial === true ||
	failure?.isToolMissing === true ||
	(failure === undefined && before !== undefined && gpus.length < before.gpus.length);

class SharedScanner {
	readonly #options: SharedScannerOptions;
	readonly #owner: string;
	readonly #wakeSignal = createWakeSignal();
	readonly #closed = new AbortController();
	#unsubscribe: Promise<() => Promise<void>> | undefined;
	#scanner: GpuProvider | undefined;
	/** Stops the renewal of the role when aborted. Set while this viewer has the role. */
	#role: AbortController | undefined;
	#isScanning = false;
	/** Until when this viewer scans only for itself, because it sees less than others can. */
	#limitedUntilMs = 0;
	#poolSize = 0;
	/** Whether this viewer's last scan listed fewer GPUs than the pool has. */
	#isShort = false;
	/** When the last call of `observe` ended. If there are no more calls, the viewer gives up the role. */
	#lastObservedMs = 0;
	#shownTime: number | undefined;
	#idle: readonly IdleSpan[] = [];
	readonly #loadKeeper: LoadKeeper;

	constructor(options: SharedScannerOptions) {
		this.#options = options;
		this.#owner = options.clock.uuid();
		this.#loadKeeper = createLoadKeeper(options.store);
	}

	async observe(): Promise<Observation> {
		const {clock} = this.#options;
		try {
			return await withFallback(
				async () => this.#observeShared(),
				async () => this.#scanAlone(),
			);
		} finally {
			this.#lastObservedMs = clock.monotonicMs();
		}
	}

	async close(): Promise<void> {
		this.#closed.abort();
		const isOurs = this.#role !== undefined;
		await this.#dropRole();
		const {scans} = this.#options.store;
		await unlessStoreFails(async () => {
			const unsubscribe = await this.#unsubscribe;
			await unsubscribe?.();
			if (isOurs) {
				await scans.resign(this.#owner);
			}
		});
	}

	async #observeShared(): Promise<Observation> {
		const {clock, intervalMs} = this.#options;
		await this.#subscribe();
		const startMs = clock.monotonicMs();
		for (;;) {
			if (this.#role !== undefined && (await this.#claim())) {
				return this.#scanAndPost();
			}

			const seen = await this.#latest();
			const ageMs = seen === undefined ? Infinity : seen.posted.ageSeconds * 1000;
			if (this.#maySeeMoreThan(seen?.scan) && (await this.#claim())) {
				return this.#scanAndPost();
			}

			if (seen !== undefined && this.#isWorthShowing(seen, ageMs)) {
				return this.#show(seen);
			}

			if (ageMs >= intervalMs && this.#isLimited()) {
				return this.#scanAlone();
			}

			if (ageMs >= intervalMs && (await this.#claim())) {
				this.#idle = seen?.scan.idle ?? [];
				return this.#scanAndPost(ageMs < limitedMs ? seen?.scan : undefined);
			}

			if (this.#closed.signal.aborted || clock.monotonicMs() - startMs > Math.max(patienceMs, 3 * intervalMs)) {
				return this.#scanAlone();
			}

			await this.#wakeSignal.wait(
				clock,
				Math.max(tickMs, Math.min(intervalMs - ageMs, intervalMs)),
				this.#closed.signal,
			);
		}
	}

	async #subscribe(): Promise<void> {
		const {store, host} = this.#options;
		if (this.#unsubscribe !== undefined) {
			return;
		}

		// If the pool belongs to another machine, scans of this machine's GPUs must not be posted.
		this.#poolSize = requirePool(await store.read(), host, store).gpuCount;
		this.#unsubscribe = store.scans.subscribe(() => {
			this.#wakeSignal.wake();
		});
		try {
			await this.#unsubscribe;
		} catch (error) {
			this.#unsubscribe = undefined;
			throw error;
		}
	}

	async #latest(): Promise<Seen | undefined> {
		const posted = await this.#options.store.scans.latest();
		const scan = posted && decodeSharedScan(posted.text);
		return posted === undefined || scan?.provider !== this.#options.name ? undefined : {posted, scan};
	}

	#isWorthShowing({posted}: Seen, ageMs: number): boolean {
		const {intervalMs} = this.#options;
		return this.#shownTime === undefined
			? ageMs < earlierScanIntervals * intervalMs
			: posted.time !== this.#shownTime && ageMs <= Math.max(tickMs, staleShare * intervalMs);
	}

	async #show({posted, scan}: Seen): Promise<Observation> {
		// Closes the scanner that this viewer used for itself while the store was unreachable.
		await this.#dropRole();
		this.#shownTime = posted.time;
		return {...scan, isPosted: true, takenAtMs: this.#options.clock.monotonicMs() - posted.ageSeconds * 1000};
	}

	/** Takes or renews the role. Returns false while another viewer has it, or if this viewer was closed in the meantime. */
	async #claim(): Promise<boolean> {
		const {store, intervalMs} = this.#options;
		// A viewer that sees all GPUs takes the role from a viewer that does not.
		const role = {owner: this.#owner, intervalMs: intervalMs + (this.#isShort ? limitedMs : 0)};
		const isGranted = await store.scans.claim(role, roleSeconds);
		const isOurs = isGranted && !this.#closed.signal.aborted;
		if (!isOurs) {
			await this.#dropRole();
		} else if (this.#role === undefined) {
			this.#role = new AbortController();
			void this.#keepRole(this.#role.signal);
		}

		return isOurs;
	}

	async #keepRole(signal: AbortSignal): Promise<void> {
		const {clock, intervalMs, store} = this.#options;
		const wakeSignal = createWakeSignal();
		while (!signal.aborted) {
			await wakeSignal.wait(clock, (roleSeconds * 1000) / 3, signal);
			const isWatching =
				this.#isScanning || clock.monotonicMs() - this.#lastObservedMs < intervalMs + roleSeconds * 1000;
			await unlessStoreFails(async () => {
				if (!signal.aborted && isWatching) {
					await this.#claim();
				} else if (!signal.aborted) {
					await this.#dropRole();
					await store.scans.resign(this.#owner);
				}
			});
		}
	}

	async #dropRole(): Promise<void> {
		this.#role?.abort();
		this.#role = undefined;
		const scanner = this.#scanner;
		this.#scanner = undefined;
		await this.#loadKeeper.end();
		await scanner?.close?.();
	}

	#isLimited(): boolean {
		return this.#options.clock.monotonicMs() < this.#limitedUntilMs;
	}

	#isShortOfGpus({failure, gpus}: Pick<Observation, 'failure' | 'gpus'>): boolean {
		return failure === undefined && gpus.length < this.#poolSize;
	}

	/** Whether this viewer has not yet found out that it also sees fewer GPUs than the pool has. */
	#maySeeMoreThan(posted: SharedScan | undefined): boolean {
		return posted !== undefined && this.#isShortOfGpus(posted) && !this.#isShort && !this.#isLimited();
	}

	async #scan(): Promise<Observation> {
		this.#scanner ??= this.#options.createScanner();
		this.#isScanning = true;
		try {
			const seen = await this.#scanner.observe();
			this.#isShort = this.#isShortOfGpus(seen);
			return seen;
		} finally {
			this.#isScanning = false;
		}
	}

	async #scanAlone(): Promise<Observation> {
		const {clock, name} = this.#options;
		return this.#closed.signal.aborted
			? {
					provider: name,
					takenAtMs: clock.monotonicMs(),
					simulated: name === 'fake',
					gpus: [],
					failure: {message: 'the viewer was closed'},
					warnings: [],
				}
			: {...(await this.#scan()), ...(this.#isLimited() && {isPartial: true})};
	}

	/** Scans for all viewers. `before` is the last scan of the viewer that had the role before. */
	async #scanAndPost(before?: SharedScan): Promise<Observation> {
		const seen = await this.#scan();
		if (seesLess(seen, before)) {
			// Gives up the role, so that a viewer that sees all GPUs can scan for the others.
			this.#limitedUntilMs = this.#options.clock.monotonicMs() + limitedMs;
			await this.#dropRole();
			await unlessStoreFails(async () => this.#options.store.scans.resign(this.#owner));
			return {...seen, isPartial: true};
		}

		await unlessStoreFails(async () => {
			// Renews the role with the interval of a viewer that does not see all GPUs.
			if (!this.#isShort || (await this.#claim())) {
				await this.#post(seen);
			}
		});
		return {...seen, idle: this.#idle};
	}

	async #post(seen: Observation): Promise<void> {
		const {store, memoryThresholdMiB} = this.#options;
		const snapshot = await store.read();
		this.#poolSize = snapshot.pool?.gpuCount ?? this.#poolSize;
		const idle = nextIdle(seen, {
			before: this.#idle,
			records: snapshot.gpus,
			now: snapshot.now,
			memoryThresholdMiB,
		});
		const posted = encodeSharedScan({...seen, idle});
		const isOurs = posted === undefined || (await store.scans.post(this.#owner, posted));
		if (isOurs) {
			await this.#loadKeeper.add(seen, snapshot.now);
		}

		const models = planServedModels(snapshot, seen);
		if (!isEmpty(models)) {
			// A conflict needs no retry, because the next scan tries again.
			await store.commit(models);
		}

		this.#idle = idle;
	}
}

/** Creates a provider that shares its scans with all viewers of the pool. The caller must close it. */
export function createSharedGpus(options: SharedScannerOptions): GpuProvider {
	const shared = new SharedScanner(options);
	let underWay: Promise<Observation> | undefined;
	const observeOnce = async (): Promise<Observation> => {
		try {
			return await shared.observe();
		} finally {
			underWay = undefined;
		}
	};

	const withScanner = async <Answer>(ask: (scanner: GpuProvider) => Promise<Answer>): Promise<Answer> => {
		const scanner = options.createScanner();
		try {
			return await ask(scanner);
		} finally {
			await scanner.close?.();
		}
	};

	return {
		name: options.name,
		simulated: options.name === 'fake',
		count: async () => withScanner(async (scanner) => scanner.count()),
		readLinks: async () => withScanner(async (scanner) => scanner.readLinks?.()),
		async observe() {
			underWay ??= observeOnce();
			return underWay;
		},
		close: async () => shared.close(),
	};
}
