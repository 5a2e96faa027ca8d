/** Getting GPUs, now or in the queue: what `run` and `reserve` call. */
import {CanhazgpuError} from '../../../errors.js';
import type {Refusal} from '../../rules/allocation/allocation.js';
import type {AcquireRequest, Grant} from '../../rules/allocation/request.js';
import {acquireNow, acquireOrRefuse, createFreshScan} from '../acquire-now.js';
import {release} from '../reservations.js';
import type {EngineWorld} from '../engine.js';
import type {GaveUp, WaitOptions} from './progress.js';
import {Waiter} from './waiter.js';

/** Undefined: others were in the way for too long, such as a peer that scans. A caller that may wait can join the queue all the same. */
async function acquireUnlessBusy(...request: Parameters<typeof acquireNow>): Promise<Grant | Refusal | undefined> {
	try {
		return await acquireNow(...request);
	} catch (error) {
		if (error instanceof CanhazgpuError && error.code === 'busy') {
			return undefined;
		}

		throw error;
	}
}

/**
Takes GPUs now, or waits in the queue for them.

@returns A refusal only when waiting was not wanted.
@throws CanhazgpuError `impossible` when the pool can never give it, ...
*/
export async function acquire(
	world: EngineWorld,
	request: AcquireRequest,
	options: WaitOptions,
): Promise<Grant | Refusal | GaveUp> {
	if (world.engine !== undefined) {
		return world.engine.acquire(request, options);
	}

	const leaseId = world.clock.uuid();
	const {waitSeconds = Infinity} = options;
	const isNowOrNever = waitSeconds === 0;
	// What the first scan takes is part of the time to wait.
	const deadlineMs = isNowOrNever ? Infinity : world.clock.monotonicMs() + waitSeconds * 1000;
	const scan = createFreshScan(world, deadlineMs);
	const first = isNowOrNever
		? await acquireOrRefuse(world, request, leaseId, scan)
		: await acquireUnlessBusy(world, request, leaseId, scan);
	const answer =
		first?.kind === 'granted' || (first !== undefined && isNowOrNever)
			? first
			: await new Waiter({world, request, options, leaseId, scan, deadlineMs}).wait();
	if (answer.kind === 'granted' && options.signal.aborted) {
		// Granted in the very moment in which it was called off.
		await release(world, request.requester, {by: 'lease', leaseId});
		return {kind: 'gave-up', reason: 'aborted'};
	}

	return answer;
}
