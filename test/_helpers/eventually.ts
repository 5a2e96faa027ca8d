import {setTimeout as sleep} from 'node:timers/promises';

/**
Waits until a condition holds. Checks every few milliseconds; after a slow check it waits as long as the check took, so that checking uses at most
half a processor.

@param condition - Returns true when it holds. May reject or throw until then.
@param timeoutMs - Fails after this long with the last error of the condition.
*/
export async function eventually(
	condition: () => boolean | undefined | Promise<boolean | undefined>,
	timeoutMs = 20_000,
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
