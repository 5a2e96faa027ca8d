import {CanhazgpuError, withFallback} from '../../../errors.js';
import type {World} from '../../model/ports.js';
import type {Observation} from '../../model/types.js';
import type {Refusal} from '../../rules/grants/newcomer-grant.js';
import type {AcquireRequest, Grant} from '../../rules/request/request.js';
import {acquireNow, acquireOrRefuse, createFreshScan} from '../acquire-now.js';
import {release} from '../reservations.js';
import type {EngineWorld, GaveUp, WaitOptions} from '../engine.js';
import {Waiter} from './waiter.js';

/** Returns undefined if conflicts lasted too long. The caller can then join the queue. */
const acquireUnlessBusy = async (...request: Parameters<typeof acquireNow>): Promise<Grant | Refusal | undefined> =>
	withFallback(
		async () => acquireNow(...request),
		() => undefined,
		'busy',
	);

/** @throws CanhazgpuError `unavailable` if not all GPUs are visible from here. */
function checkNotBlind({isPartial}: Observation): void {
	if (isPartial === true) {
		throw new CanhazgpuError(
			'unavailable',
			'The GPUs are not free, or not visible from here: an isolated job sees only its own, and cannot wait for others',
			{hint: 'Run the command outside of the job.'},
		);
	}
}

/** Grants GPUs now or after a wait in the queue. Refuses only requests that do not wait. Throws `impossible` if no wait can help. */
export async function acquire(
	world: EngineWorld,
	request: AcquireRequest,
	options: WaitOptions,
): Promise<Grant | Refusal | GaveUp> {
	if (world.engine !== undefined) {
		return world.engine.acquire(request, options);
	}

	try {
		return await acquireHere(world, request, options);
	} catch (error) {
		// Canceled during the first scan, before joining the queue.
		if (error === options.signal.reason) {
			return {kind: 'gave-up', reason: 'aborted'};
		}

		throw error;
	}
}

async function acquireHere(
	world: World,
	request: AcquireRequest,
	options: WaitOptions,
): Promise<Grant | Refusal | GaveUp> {
	const leaseId = world.clock.uuid();
	const {waitSeconds = Infinity} = options;
	const isNowOrNever = waitSeconds === 0;
	const deadlineMs = isNowOrNever ? Infinity : world.clock.monotonicMs() + waitSeconds * 1000;
	const scan = createFreshScan(world, deadlineMs, options.signal);
	let lastScan: Observation | undefined;
	const observe = async (): Promise<Observation> => {
		lastScan = await scan();
		return lastScan;
	};

	/** A waiter that cannot see the GPUs could not take any, and would block everyone behind it. */
	const observeToWait = async (): Promise<Observation> => {
		const seen = await observe();
		checkNotBlind(seen);
		return seen;
	};

	const first = isNowOrNever
		? await acquireOrRefuse(world, request, leaseId, observe)
		: await acquireUnlessBusy(world, request, leaseId, observe);
	const isAnswered = first?.kind === 'granted' || (first !== undefined && isNowOrNever);
	if (!isAnswered && lastScan !== undefined) {
		checkNotBlind(lastScan);
	}

	const answer = isAnswered
		? first
		: await new Waiter({world, request, options, leaseId, scan: observeToWait, deadlineMs}).wait();
	if (answer.kind === 'granted' && options.signal.aborted) {
		await release(world, request.requester, {by: 'lease', leaseId});
		return {kind: 'gave-up', reason: 'aborted'};
	}

	return answer;
}
