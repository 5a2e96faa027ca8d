/** Returns idle GPUs to the pool after each scan of a live view, and requests another scan for the next warning or return. */
import type {World} from '../model/ports.js';
import type {Observation, Snapshot} from '../model/types.js';
import {createReclaimer} from '../operations/reclaim.js';
import {createTimer} from './timer.js';

/** If the next step is due later than this, no extra scan is requested, because a regular scan comes first. */
const longestStepSeconds = 120;
/** How much later than the step the extra scan starts, so that the step is certainly due. */
const stepDelayMs = 20;

type Known = {
	readonly snapshot: Snapshot | undefined;
	readonly lost: unknown;
	readonly now: number;
};

type ReclaimLoop = {
	readonly scanned: (known: Known, observation: Observation) => void;
	readonly stop: () => void;
};

/** Creates the loop. `world.gpus` must scan for this process alone. */
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
