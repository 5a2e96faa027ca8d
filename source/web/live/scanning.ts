/** When the GPUs are scanned: often while somebody watches, now and then for the history of use, and on demand. */
import type {World} from '../../core/model/ports.js';
import type {Observation} from '../../core/model/types.js';

export type Scanning = {
	/** Scans soon: something changed. */
	readonly poke: () => void;
	/** Resolves once there is a scan that is not old. */
	readonly fresh: () => Promise<void>;
	readonly watch: () => () => void;
	readonly stop: () => void;
};

export const watchedMs = 2000;
const unwatchedMs = 10_000;
/** However often it is poked, the tool gets this much rest. */
const restMs = 250;
/** A request is shown nothing older. */
const freshMs = 5000;

export function startScanning(
	world: World,
	arrived: (observation: Observation) => void,
	broken: (error: unknown) => void,
): Scanning {
	let isStopped = false;
	let watchers = 0;
	let running: Promise<void> | undefined;
	let isPoked = false;
	let timer: NodeJS.Timeout | undefined;
	let endedMs = -Infinity;

	const ageMs = (): number => world.clock.monotonicMs() - endedMs;

	function plan(): void {
		clearTimeout(timer);
		if (isStopped || running !== undefined) {
			return;
		}

		const restAfterMs = isPoked ? restMs : watchers > 0 ? watchedMs : unwatchedMs;
		timer = setTimeout(
			() => {
				void scan();
			},
			Math.max(0, restAfterMs - ageMs()),
		);
	}

	/** One at a time: whoever asks meanwhile gets the one under way. */
	async function scan(): Promise<void> {
		clearTimeout(timer);
		running ??= scanOnce();
		return running;
	}

	async function scanOnce(): Promise<void> {
		isPoked = false;
		try {
			const observation = await world.gpus.observe();
			if (!isStopped) {
				arrived(observation);
			}
		} catch (error) {
			isStopped = true;
			broken(error);
		} finally {
			endedMs = world.clock.monotonicMs();
			running = undefined;
			plan();
		}
	}

	void scan();
	return {
		poke() {
			isPoked = true;
			plan();
		},
		async fresh() {
			if (!isStopped && ageMs() > freshMs) {
				await scan();
			}
		},
		watch() {
			watchers++;
			plan();
			return () => {
				watchers--;
			};
		},
		stop() {
			isStopped = true;
			clearTimeout(timer);
		},
	};
}
