/**
The knowledge of one process about reservations that is not in the store: which GPUs the process sees completely,
and which reservations have no load.
*/
import type {World} from '../model/ports.js';
import type {GraceTimer, Observation, Snapshot} from '../model/types.js';
import {candidatesIn, type Observer} from '../rules/reclaim/candidates.js';
import {nextPauses} from '../rules/reclaim/parked.js';
import {gpusSeenIn, type Pause, type Sight} from '../rules/reclaim/sight.js';
import {answeringIn} from './acquire-now.js';

export class ReclaimSight {
	readonly #world: Pick<World, 'host' | 'clock' | 'memoryThresholdMiB'>;
	#pauses: ReadonlyMap<string, Pause> = new Map();
	readonly #seenGpus = new Set<number>();
	#seenBefore: ReadonlySet<number> = new Set();

	constructor(world: Pick<World, 'host' | 'clock' | 'memoryThresholdMiB'>) {
		this.#world = world;
	}

	/** Remembers an observation. Must be called once for each observation, before changes are planned with the observation. */
	remember(snapshot: Snapshot, observation: Observation): void {
		if (observation.isPartial === true) {
			return;
		}

		const {memoryThresholdMiB, host} = this.#world;
		const canAdvance = observation.isPosted !== true;
		const seenAt = snapshot.now - this.ageOf(observation);
		const sight = {seenAt, canAdvance, memoryThresholdMiB};
		this.#pauses = nextPauses(this.#pauses, candidatesIn(snapshot), observation, sight, snapshot);
		this.#seenBefore = new Set(this.#seenGpus);
		for (const index of canAdvance ? gpusSeenIn(observation, host.self.namespace) : []) {
			this.#seenGpus.add(index);
		}
	}

	/** Returns what this process sees in an observation. The snapshot gives the current store time. */
	at(snapshot: Snapshot, observation: Observation, canAdvance: boolean): Sight {
		const {host, memoryThresholdMiB} = this.#world;
		const age = this.ageOf(observation);
		return {
			...this.observer(snapshot, age),
			seenAt: snapshot.now - age,
			canAdvance,
			memoryThresholdMiB,
			pidNamespace: host.self.namespace,
			seenGpus: this.#seenBefore,
			pauses: this.#pauses,
		};
	}

	/** Returns what this process knows without a scan, now or `ago` seconds ago. */
	observer(snapshot: Snapshot, ago = 0): Observer {
		const {host} = this.#world;
		return {host: host.hostname, isAnswering: answeringIn(snapshot, host), timer: this.#timer(ago)};
	}

	/** Returns the time of the machine's monotonic clock `ago` seconds ago. Undefined if the clock cannot be read. */
	#timer(ago: number): GraceTimer | undefined {
		const {id, seconds} = this.#world.host.monotonic;
		const now = seconds();
		return now === undefined ? undefined : {clock: id, seconds: now - ago};
	}

	/** Returns the age of an observation in seconds. */
	ageOf({takenAtMs}: Observation): number {
		return Math.max(0, this.#world.clock.monotonicMs() - takenAtMs) / 1000;
	}
}
