import {hostToMoveTo, type AskedOfHosts} from '../../../core/rules/hosts/choose-host.js';
import {CanhazgpuError} from '../../../errors.js';
import type {App} from '../../../app/contract.js';
import {answerFrom} from './ask-hosts.js';
import {askForGpus} from './host-answers.js';

/** Delay of the first check. A request that is served sooner causes no check. */
const firstMs = 10_000;
const nextMs = 30_000;
/** How many times in a row the entry is missing before the watch ends. A missing entry was served, or the host's version chose another id. */
const mostMisses = 2;

type Watched = {
	readonly wanted: AskedOfHosts;
	readonly host: string;
	readonly entryId: string;
	readonly others: readonly string[];
	readonly signal: AbortSignal;
};

const holdsNothing = ({allocated_gpus: gpus}: Readonly<Record<string, unknown>>): boolean =>
	!Array.isArray(gpus) || gpus.length === 0;

/** Removes the entry from the queue of its host, unless it holds a GPU. Returns false if that failed or if the outcome is unknown. */
async function leaveThere(app: App, {host, entryId}: Watched): Promise<boolean> {
	const words = ['queue', '--leave', entryId, '--while-empty'];
	// Cannot be cancelled, because the outcome must be known.
	const answer = await answerFrom(host, async () => app.callOnHost({host, words, isUnbounded: false}));
	return 'exitCode' in answer && answer.exitCode === 0;
}

/** Waits until another host can serve the request, then cancels the request on its host. Returns undefined if the request should stay. */
export async function findBetterHost(app: App, watched: Watched): Promise<string | undefined> {
	const {wanted, host, entryId, others, signal} = watched;
	// Shows no progress, because the waiting request uses the terminal.
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
