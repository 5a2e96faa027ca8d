/** How long it took, and what it rejected with. */
export async function timed(work: Promise<unknown>): Promise<{readonly seconds: number; readonly error: unknown}> {
	const began = performance.now();
	let error: unknown;
	try {
		await work;
	} catch (error_) {
		error = error_;
	}

	return {seconds: (performance.now() - began) / 1000, error};
}
