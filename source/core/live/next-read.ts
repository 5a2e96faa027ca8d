/** Shares reads among all who ask: each is given one that began after they asked, and there is one at a time. */
export function createNextRead<Value>(read: () => Promise<Value>): () => Promise<Value> {
	let running: Promise<unknown> = Promise.resolve();
	let next: Promise<Value> | undefined;

	const begin = async (): Promise<Value> => {
		const before = running;
		// The read before has its own callers, who learn that it failed.
		await before.catch(() => undefined);
		next = undefined;
		const own = read();
		running = own;
		return own;
	};

	return async () => {
		next ??= begin();
		return next;
	};
}
