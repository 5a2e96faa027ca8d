import {setTimeout as sleep} from 'node:timers/promises';

/** How long a test waits for anything, in milliseconds. Long enough for a busy machine, because only a failing test waits that long. */
export const patienceMs = 60_000;

/**
Waits until a condition returns true. Checks every few milliseconds, or after a slow check only after the time that the check took, so that
checking uses at most half a processor. The condition may reject or throw in the meantime. After `timeoutMs`, fails with its last error.
*/
export async function eventually(
	condition: () => boolean | undefined | Promise<boolean | undefined>,
	timeoutMs = patienceMs,
): Promise<void> {
	const deadline = performance.now() + timeoutMs;
	let problem: unknown = new Error('The condition never held');
	while (performance.now() < deadline) {
		const checkedAt = performance.now();
		try {
			if ((await condition()) === true) {
				return;
			}
		} catch (error) {
			problem = error;
		}

		await sleep(Math.max(5, performance.now() - checkedAt));
	}

	throw problem;
}
