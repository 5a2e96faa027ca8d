/** Until a key that was typed has done what it does. */
export async function settle(): Promise<void> {
	for (let tries = 0; tries < 100; tries++) {
		const beganMs = performance.now();
		// Ink holds a lone escape back for 20 ms: it might begin a sequence.
		await new Promise((resolve) => {
			setTimeout(resolve, 30);
		});
		// Late: other programs have the processors, and what the key does may not be done either.
		if (performance.now() - beganMs < 36) {
			return;
		}
	}
}
