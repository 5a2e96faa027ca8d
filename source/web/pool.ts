/** Opens the pool of this host. If that fails, the server tries again later and shows the reason. */
import {startLiveView, type LiveState, type LiveView, type LiveViewOptions} from '../core/live/live-view.js';
import type {Clock, World} from '../core/model/ports.js';
import type {AuditKind} from '../core/model/types.js';
import type {EngineWorld} from '../core/operations/engine.js';
import {CanhazgpuError} from '../errors.js';

export type OpenPool = EngineWorld & {
	readonly privateLabel?: string;
	readonly scannedGpus?: World['gpus'];
	readonly close: () => Promise<void>;
};

type LocalPool = {
	readonly liveView: LiveView;
	readonly opened: () => OpenPool | undefined;
	/** Returns the pool. Rejects with the reason while the pool is not open. */
	readonly world: () => Promise<World>;
	/** Like `world`, for requests that change the pool. */
	readonly actingWorld: () => Promise<World>;
	/** False while this host has no pool and the server shows only other hosts. */
	readonly isExpected: () => boolean;
	readonly close: () => Promise<void>;
};

type LocalPoolOptions = {
	readonly open: () => Promise<OpenPool>;
	readonly goesOnWithout: (error: CanhazgpuError) => boolean;
	readonly clock: Clock;
	readonly live: LiveViewOptions;
};

const retryMs = 5000;

const nothingKnown = (problem: CanhazgpuError, sinceSeconds: number): LiveState => ({
	revision: 0,
	snapshot: undefined,
	now: Date.now() / 1000,
	observation: undefined,
	lastScan: undefined,
	rows: [],
	queue: [],
	events: [],
	eventsProblem: undefined,
	lost: {reason: problem.message, since: sinceSeconds},
	blind: undefined,
});

type Listener = Parameters<LiveView['subscribe']>[0];

function createLateView(current: () => LiveState, problem: () => CanhazgpuError) {
	let view: LiveView | undefined;
	const listeners = new Set<Listener>();
	const watchers = new Map<symbol, () => void>();
	const grantListeners = new Set<(waitSeconds: number) => void>();
	const noCounts = new Map<AuditKind, number>();
	const publish: Listener = (state, change) => {
		for (const listener of listeners) {
			listener(state, change);
		}
	};

	const liveView: LiveView = {
		current: () => view?.current() ?? current(),
		now: () => view?.now() ?? Date.now() / 1000,
		get counts() {
			return view?.counts ?? noCounts;
		},
		async fresh() {
			if (view === undefined) {
				throw problem();
			}

			return view.fresh();
		},
		subscribe(changed) {
			listeners.add(changed);
			return () => {
				listeners.delete(changed);
			};
		},
		subscribeToGrants(granted) {
			grantListeners.add(granted);
			view?.subscribeToGrants(granted);
		},
		watch() {
			const watcher = Symbol('watcher');
			watchers.set(watcher, view?.watch() ?? (() => undefined));
			return () => {
				watchers.get(watcher)?.();
				watchers.delete(watcher);
			};
		},
		refresh() {
			view?.refresh();
		},
		stop() {
			listeners.clear();
			view?.stop();
		},
	};
	return {
		liveView,
		publish,
		begin(started: LiveView) {
			view = started;
			started.subscribe(publish);
			for (const granted of grantListeners) {
				started.subscribeToGrants(granted);
			}

			for (const watcher of watchers.keys()) {
				watchers.set(watcher, started.watch());
			}
		},
	};
}

/** Opens the pool. Rejects if the pool cannot be opened and the server cannot continue without it. */
export async function openLocalPool({open, goesOnWithout, clock, live}: LocalPoolOptions): Promise<LocalPool> {
	const stopped = new AbortController();
	let opened: OpenPool | undefined;
	let problem = new CanhazgpuError('busy', 'The pool has not been opened yet', {hint: 'Try again in a few seconds.'});
	let sinceSeconds = Date.now() / 1000;
	let trying: Promise<void> | undefined;
	const late = createLateView(
		() => nothingKnown(problem, sinceSeconds),
		() => problem,
	);

	async function tryToOpen(): Promise<void> {
		try {
			const pool = await open();
			if (stopped.signal.aborted) {
				await pool.close();
				return;
			}

			opened = pool;
			late.begin(startLiveView(pool, {...live, ownGpus: pool.scannedGpus}));
		} catch (error) {
			if (!(error instanceof CanhazgpuError && goesOnWithout(error))) {
				throw error;
			}

			sinceSeconds = error.message === problem.message ? sinceSeconds : Date.now() / 1000;
			problem = error;
			late.publish(nothingKnown(problem, sinceSeconds), 'store-lost');
		}
	}

	async function keepTrying(): Promise<void> {
		while (opened === undefined && !stopped.signal.aborted) {
			// Ignores the error of a sleep that was aborted because the server ends.
			await clock.sleep(retryMs, stopped.signal).catch(() => undefined);
			if (!stopped.signal.aborted) {
				await tryToOpen();
			}
		}
	}

	await tryToOpen();
	if (opened === undefined) {
		trying = keepTrying().catch(live.broken);
	}

	async function world(): Promise<OpenPool> {
		if (opened === undefined) {
			throw problem;
		}

		return opened;
	}

	return {
		liveView: late.liveView,
		opened: () => opened,
		world,
		async actingWorld() {
			const pool = await world();
			return {...pool, gpus: pool.scannedGpus ?? pool.gpus};
		},
		isExpected: () => opened !== undefined || problem.code !== 'no-pool',
		async close() {
			late.liveView.stop();
			stopped.abort();
			await trying;
			await opened?.close();
		},
	};
}
