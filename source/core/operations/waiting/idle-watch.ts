/** Returns idle GPUs and GPUs beyond a limit to the pool while a request waits, even if no monitor runs. Only the first request in the queue does this. */
import type {World} from '../../model/ports.js';
import type {QueueEntry, Snapshot} from '../../model/types.js';
import {idleRulesOf} from '../../rules/policy/idle-rules.js';
import {hasMarked} from '../../rules/reclaim/beyond-limit.js';
import {hasReclaimable} from '../../rules/reclaim/candidates.js';
import {answeringIn, createFreshScan} from '../acquire-now.js';
import {createReclaimer} from '../reclaim.js';

const intervalSeconds = 30;
/** How much later than a deadline the scan starts, so that the deadline has certainly passed. */
const delaySeconds = 0.02;
const shortestSeconds = 0.25;

export type IdleWatch = {
	/** Starts the loop if the policy returns idle GPUs, or if reservations are beyond their limit. Further calls have no effect. */
	readonly start: (snapshot: Snapshot) => void;
};

/** Whether the program that waits with this entry returns idle GPUs to the pool. The Go program does not, and its entries name no machine. */
const canLook = ({machine}: QueueEntry): boolean => machine !== undefined;

type Options = {
	readonly world: World;
	readonly entryId: string;
	readonly signal: AbortSignal;
	readonly run: (work: () => Promise<void>) => void;
};

export function createIdleWatch({world, entryId, signal, run}: Options): IdleWatch {
	const {store, host, clock} = world;
	let isStarted = false;

	const isFirst = (snapshot: Snapshot): boolean => {
		const position = snapshot.queue.findIndex(({id}) => id === entryId);
		const isAnswering = answeringIn(snapshot, host);
		return (
			position !== -1 &&
			snapshot.queue
				.slice(0, position)
				.every((record) => record.kind !== 'entry' || !canLook(record.entry) || !isAnswering(record.entry))
		);
	};

	async function watch(): Promise<void> {
		const reclaimer = createReclaimer(world);

		const look = async (): Promise<number> => {
			const before = await store.read();
			if (!isFirst(before)) {
				return Infinity;
			}

			if (!hasReclaimable(before, answeringIn(before, host))) {
				return reclaimer.endBeyondLimit(before);
			}

			// The read comes after the scan, because the snapshot must not be older than the scan.
			// An abort ends the wait for a scan that hangs, so that the request can end at once.
			const observation = await createFreshScan(world, Infinity, signal)();
			return reclaimer.look(await store.read(), observation);
		};

		while (!signal.aborted) {
			const nextSeconds = await look().catch(() => {
				reclaimer.miss();
				return Infinity;
			});
			const seconds = Math.max(shortestSeconds, Math.min(intervalSeconds, nextSeconds + delaySeconds));
			await clock.sleep(seconds * 1000, signal).catch(() => undefined);
		}
	}

	return {
		start(snapshot) {
			if (isStarted || (idleRulesOf(snapshot) === undefined && !hasMarked(snapshot))) {
				return;
			}

			isStarted = true;
			run(watch);
		},
	};
}
