/** While a request of `--on any` waits on another host: asks now and then whether a third one can serve it at once. */
import {hostToMoveTo} from '../../../core/rules/hosts/choose-host.js';
import type {Wanted} from '../../../core/rules/request/request.js';
import {CanhazgpuError} from '../../../errors.js';
import type {App} from '../../../app/contract.js';
import {answerFrom} from './ask-hosts.js';
import {askForGpus} from './host-answers.js';

/** Before the hosts are asked for the first time: a request that is served soon never asks. */
const firstMs = 10_000;
/** Until they are asked again. */
const nextMs = 30_000;
/** So often the entry is not found in the queue: it was served, or that version gives it another id. */
const mostMisses = 2;

type Watched = {
	readonly wanted: Wanted;
	/** Where it waits. */
	readonly host: string;
	/** The id of its entry in the queue there. */
	readonly entryId: string;
	readonly others: readonly string[];
	/** Aborted when it waits no longer. */
	readonly signal: AbortSignal;
};

const holdsNothing = ({allocated_gpus: gpus}: Readonly<Record<string, unknown>>): boolean =>
	!Array.isArray(gpus) || gpus.length === 0;

/** Leaves the queue there, unless it holds a GPU by now. False: it did not leave, or that is unknown. */
async function leaveThere(app: App, {host, entryId}: Watched): Promise<boolean> {
	const words = ['queue', '--leave', entryId, '--while-empty'];
	// Not called off: whether it left must be known.
	const answer = await answerFrom(host, async () => app.callOnHost({host, words, isUnbounded: false}));
	return 'exitCode' in answer && answer.exitCode === 0;
}

/**
Waits for a host that can serve the request at once, and takes the request out of the queue where it waits.

@returns The host to go to. Undefined: it goes nowhere else. Never rejects for the sake of a host.
*/
export async function findBetterHost(app: App, watched: Watched): Promise<string | undefined> {
	const {wanted, host, entryId, others, signal} = watched;
	// The terminal belongs to the waiter.
	const silent: App = {...app, liveErrors: undefined};
	let misses = 0;
	for (let waitMs = firstMs; ; waitMs = nextMs) {
		try {
			await app.clock.sleep(waitMs, signal);
			const queue = await app.remoteQueue(host, signal);
			const own = queue.entries.find(({id}) => id === entryId);
			misses = own === undefined ? misses + 1 : 0;
			if (misses === mostMisses) {
				return undefined;
			}

			if (own === undefined || !holdsNothing(own)) {
				continue;
			}

			const better = hostToMoveTo(wanted, host, await askForGpus(silent, others, signal));
			if (better !== undefined && !signal.aborted && (await leaveThere(app, watched))) {
				return better;
			}
		} catch (error) {
			if (signal.aborted) {
				return undefined;
			}

			if (!(error instanceof CanhazgpuError)) {
				throw error;
			}
		}
	}
}
