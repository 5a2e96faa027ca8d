/** Waits until the last typed key has taken effect. */
export async function settle(): Promise<void> {
	for (let tries = 0; tries < 100; tries++) {
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
