/** Scans the GPUs again and again, one scan at a time. */
import type {World} from '../../core/model/ports.js';
import type {Observation} from '../../core/model/types.js';

/** What is scanned, and by whose clock. */
export type Watched = Pick<World, 'gpus' | 'clock'>;

export type Scanner = {
	/** Scans now, or as soon as the scan under way is done. */
	readonly poke: () => void;
	readonly stop: () => void;
};

/** However often it is poked, the tool gets this much rest. */
const restMs = 250;

export function startScanner(
	{gpus, clock}: Watched,
	intervalMs: number,
	arrived: (observation: Observation) => void,
	broken: (error: unknown) => void,
): Scanner {
	let isStopped = false;
	let isScanning = false;
	let isPoked = false;
	let timer: NodeJS.Timeout | undefined;
	let restUntilMs = 0;

	const scanIn = (milliseconds: number): void => {
		clearTimeout(timer);
		timer = isStopped
			? undefined
			: setTimeout(() => {
					void scan();
				}, milliseconds);
	};

	async function scan(): Promise<void> {
		isScanning = true;
		isPoked = false;
		try {
			const observation = await gpus.observe();
			if (!isStopped) {
				arrived(observation);
			}
		} catch (error) {
			broken(error);
			return;
		}

		isScanning = false;
		restUntilMs = clock.monotonicMs() + restMs;
		scanIn(isPoked ? restMs : intervalMs);
	}

	void scan();
	return {
		poke() {
			isPoked = true;
			if (!isScanning) {
				scanIn(Math.max(0, restUntilMs - clock.monotonicMs()));
			}
		},
		stop() {
			isStopped = true;
			clearTimeout(timer);
		},
	};
}
