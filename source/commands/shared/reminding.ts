/** Reminds people of reservations that end soon, for as long as something of ours runs anyway. */
import {createWakeSignal} from '../../core/operations/waiting/wake-signal.js';
import {claimReminders} from '../../core/operations/reminders.js';
import {sanitize} from '../../format/text/text.js';
import type {App, OpenWorld} from '../../app/contract.js';
import {createBackground} from './background.js';

const firstCheckMs = 1000;
/** A reservation that was made or moved meanwhile is noticed this late, at most. */
const longestWaitMs = 60_000;
/** Who is done waits no longer for what hangs than this. */
const graceMs = 1000;

/**
Sends reminders.

@param complain - Called with words for what could not be sent.
@returns The way to stop; a reminder that is being sent is sent to its end, unless that hangs.
*/
export function keepReminding(app: App, world: OpenWorld, complain: (words: string) => void): () => Promise<void> {
	const ended = new AbortController();
	const givenUp = new AbortController();
	const wakeSignal = createWakeSignal();
	const sender = {...app.requester(undefined), reachesAll: app.notifiesAll};

	const background = createBackground(complain);

	const remind = async (): Promise<number> => {
		const {reminders, nextSeconds} = await claimReminders(world, sender);
		for (const problem of (
			await Promise.all(reminders.map(async (reminder) => app.notify(reminder, givenUp.signal)))
		).flat()) {
			complain(`canhazgpu: a reminder could not be sent: ${sanitize(problem)}`);
		}

		return Math.min(longestWaitMs, nextSeconds * 1000);
	};

	const loop = (async () => {
		let waitMs = firstCheckMs;
		await app.loadAhead();
		for (;;) {
			// Not all at the same moment.
			await wakeSignal.wait(world.clock, waitMs + 500 * world.clock.random(), ended.signal);
			if (ended.signal.aborted) {
				return;
			}

			// A store that is away is asked again later.
			waitMs = (await background.attempt(remind)) ?? longestWaitMs;
		}
	})();
	return async () => {
		ended.abort();
		const grace = setTimeout(() => {
			givenUp.abort();
		}, graceMs);
		await loop;
		clearTimeout(grace);
	};
}
