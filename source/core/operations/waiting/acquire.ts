import {CanhazgpuError, isTransient, withFallback} from '../../../errors.js';
import type {World} from '../../model/ports.js';
import type {Observation} from '../../model/types.js';
import type {Refusal} from '../../rules/grants/newcomer-grant.js';
import type {AcquireRequest, Grant} from '../../rules/request/request.js';
import {acquireNow, acquireOrRefuse, createFreshScan} from '../acquire-now.js';
import {withoutLimits} from '../limits.js';
import {release} from '../reservations.js';
import type {EngineWorld, GaveUp, WaitOptions} from '../engine.js';
import {quitLater} from './leave-queue.js';
import {Waiter} from './waiter.js';

/** Grants GPUs now. Returns undefined if conflicts lasted too long, so that the caller can join the queue instead. */
const acquireUnlessBusy = async (...request: Parameters<typeof acquireNow>): Promise<Grant | Refusal | undefined> =>
	withFallback(
		async () => acquireNow(...request),
		() => undefined,
		'busy',
	);

function checkNotBlind({isPartial}: Observation): void {
	if (isPartial === true) {
		throw new CanhazgpuError(
			'unavailable',
			'The GPUs are not free, or not visible from here: an isolated job sees only its own GPUs, so it cannot wait for others',
			{hint: 'Run the command outside the job.'},
		);
	}
}

/** Grants GPUs now or after waiting in the queue. Refuses only requests that do not wait. Throws `impossible` if waiting cannot help. */
export async function acquire(
	world: EngineWorld,
	request: AcquireRequest,
	options: WaitOptions,
): Promise<Grant | Refusal | GaveUp> {
	if (world.engine !== undefined) {
		return world.engine.acquire(withoutLimits(request), options);
	}

	const {requester} = request;
	const {leaseId = world.clock.uuid(), entryId = world.clock.uuid()} = options;
	const leaveLater = (reason: GaveUp['reason']): void => {
		const {leaveUntil, failed} = options;
		if (leaveUntil !== undefined) {
			void quitLater(
				world,
				requester,
				{id: entryId, leaseId, account: requester.account, reason},
				{leaveUntil, failed},
			);
		}
	};

	try {
		const answer = await acquireHere(world, request, options, {leaseId, entryId});
		if (answer.kind === 'gave-up' && answer.isUnsure === true) {
			leaveLater(answer.reason);
		}

		return answer;
	} catch (error) {
		if (isTransient(error)) {
			leaveLater('aborted');
		}

		// The user canceled the request during the first scan, before it joined the queue.
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
	{leaseId, entryId}: {readonly leaseId: string; readonly entryId: string},
): Promise<Grant | Refusal | GaveUp> {
	const {waitSeconds = Infinity} = options;
	const isNowOrNever = waitSeconds === 0;
	const deadlineMs = isNowOrNever ? Infinity : world.clock.monotonicMs() + waitSeconds * 1000;
	const scan = createFreshScan(world, deadlineMs, options.signal);
	let lastScan: Observation | undefined;
	const observe = async (): Promise<Observation> => {
		lastScan = await scan();
		return lastScan;
	};

	/** Scans before joining the queue. A request that cannot see the GPUs could never take any, and would block all later requests. */
	const observeToWait = async (): Promise<Observation> => {
		const seen = await observe();
		checkNotBlind(seen);
		return seen;
	};

	// A repeated request can still be in the queue, and must not get GPUs in addition to its entry.
	const isQueued =
		!isNowOrNever && options.entryId !== undefined && (await world.store.readEntry(options.entryId)) !== undefined;
	const first = isNowOrNever
		? await acquireOrRefuse(world, request, leaseId, observe)
		: isQueued
			? undefined
			: await acquireUnlessBusy(world, request, leaseId, observe);
	const isAnswered = first?.kind === 'granted' || (first !== undefined && isNowOrNever);
	if (!isAnswered && lastScan !== undefined) {
		checkNotBlind(lastScan);
	}

	const answer = isAnswered
		? first
		: await new Waiter({world, request, options, leaseId, entryId, scan: observeToWait, deadlineMs}).wait();
	if (answer.kind === 'granted' && options.signal.aborted) {
		await release(world, request.requester, {by: 'lease', leaseId});
		return {kind: 'gave-up', reason: 'aborted'};
	}

	return answer;
}
