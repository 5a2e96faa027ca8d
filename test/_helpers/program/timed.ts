import process from 'node:process';

export type Timed = {
	/** By the clock on the wall. */
	readonly seconds: number;
	/** Of these, those in which this process could run: what a busy machine kept from it does not count. */
	readonly ownSeconds: number;
	/** What it rejected with. */
	readonly error: unknown;
};

const tickMs = 20;

/** How long it took, and what it rejected with. */
export async function timed(work: Promise<unknown>): Promise<Timed> {
	const began = performance.now();
	const cpuBefore = process.cpuUsage();
	let lastTick = began;
	let ownMs = 0;
	const count = (): void => {
		const now = performance.now();
		ownMs += Math.min(now - lastTick, 2 * tickMs);
		lastTick = now;
	};

	const timer = setInterval(count, tickMs);
	let error: unknown;
	try {
		await work;
	} catch (error_) {
		error = error_;
	}

	clearInterval(timer);
	count();
	const {user, system} = process.cpuUsage(cpuBefore);
	// Work that kept the ticks from coming was this process's own.
	return {
		seconds: (performance.now() - began) / 1000,
		ownSeconds: Math.max(ownMs / 1000, (user + system) / 1e6),
		error,
	};
}

/** Milliseconds of processor that this work took, however busy the machine is with other things. */
export function cpuMsOf(work: () => unknown): number {
	const before = process.cpuUsage();
	work();
	const {user, system} = process.cpuUsage(before);
	return (user + system) / 1000;
}
