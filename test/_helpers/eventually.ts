import {setTimeout as sleep} from 'node:timers/promises';

/**
Waits until a condition holds, looking every few milliseconds; more seldom where a look is dear, so that looking takes no more than half
a processor from what is waited for.

@param condition - Holds when it is true. May reject or throw until then.
@param timeoutMs - Fails after this long, with what the condition threw last.
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
