import {createWakeSignal} from '../../core/operations/waiting/wake-signal.js';
import {claimReminders} from '../../core/operations/reminders.js';
import {sanitize} from '../../format/text/text.js';
import type {App, OpenWorld} from '../../app/contract.js';
import {createBackground} from './background.js';

const firstCheckMs = 1000;
/** The longest time in ms after which a new or changed reservation is noticed. */
const longestWaitMs = 60_000;
/** Maximum time in ms to wait for a reminder that hangs, when the reminders are stopped. */
const graceMs = 1000;

/** Sends reminders until the returned function is called. `complain` gets a message for each failure. */
export function keepReminding(app: App, world: OpenWorld, complain: (words: string) => void): () => Promise<void> {
	const ended = new AbortController();
	const givenUp = new AbortController();
	const wakeSignal = createWakeSignal();

	const background = createBackground(complain);

	const remind = async (): Promise<number> => {
		const {sender} = await app.loadNotices();
		const {reminders, nextSeconds} = await claimReminders(world, {...app.requester(undefined), ...sender});
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
			// A random delay keeps several commands from acting at the same moment.
			await wakeSignal.wait(world.clock, waitMs + 500 * world.clock.random(), ended.signal);
			if (ended.signal.aborted) {
				return;
			}

			// If the store is unreachable, it is read again later.
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
