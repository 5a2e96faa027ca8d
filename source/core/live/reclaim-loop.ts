/** Gives idle GPUs back after each scan of a live view, and scans again when the next step is due. */
import type {World} from '../model/ports.js';
import type {Observation, Snapshot} from '../model/types.js';
import {createReclaimer} from '../operations/reclaim.js';
import {createTimer} from './timer.js';

/** Steps that are due later than this are found by the regular scans. */
const longestStepSeconds = 120;
/** The scan comes a little later than the step is due, so that the step is due by then. */
const stepDelayMs = 20;

/** The state of the live view. `lost` is set while the store cannot be reached. */
type Known = {
	readonly snapshot: Snapshot | undefined;
	readonly lost: unknown;
	readonly now: number;
};

type ReclaimLoop = {
	readonly scanned: (known: Known, observation: Observation) => void;
	readonly stop: () => void;
};

/** @param world - Its `gpus` scan for this process alone. */
export function createReclaimLoop(
	world: World,
	{poke, broken}: {readonly poke: () => void; readonly broken: (error: unknown) => void},
): ReclaimLoop {
	const reclaimer = createReclaimer(world);
	const nextStep = createTimer(world.clock);
	let isStopped = false;

	async function look({snapshot, lost, now}: Known, observation: Observation): Promise<void> {
		if (lost !== undefined) {
			reclaimer.miss();
		}

		if (lost !== undefined || snapshot === undefined) {
			return;
		}

		const nextSeconds = await reclaimer.look({...snapshot, now}, observation);
		if (nextSeconds < longestStepSeconds && !isStopped) {
			nextStep.runIn(nextSeconds * 1000 + stepDelayMs, poke);
		}
	}

	return {
		scanned(known, observation) {
			look(known, observation).catch(broken);
		},
		stop() {
			isStopped = true;
			nextStep.stop();
		},
	};
}
