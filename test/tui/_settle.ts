/** Below the time for which the monitor shows a message. */
const longestMs = 2000;

/** Waits until the last typed key has taken effect, or for {@link longestMs} on a busy machine. */
export async function settle(): Promise<void> {
	const endMs = performance.now() + longestMs;
	while (performance.now() < endMs) {
		const beganMs = performance.now();
		// Ink holds back a lone escape for 20 ms, because it could start a sequence.
		await new Promise((resolve) => {
			setTimeout(resolve, 30);
		});
		// If the timer was late, the processors are busy, and the key may not have taken effect either.
		if (performance.now() - beganMs < 36) {
			return;
		}
	}
}
