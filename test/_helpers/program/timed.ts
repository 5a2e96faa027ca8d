import process from 'node:process';

export type Timed = {
	/** Elapsed wall-clock time. */
	readonly seconds: number;
	/** The part of `seconds` in which this process could run, without delays caused by a busy machine. */
	readonly ownSeconds: number;
	/** The error of a rejected promise. */
	readonly error: unknown;
};

const tickMs = 20;

/** Awaits a promise, catches its error, and measures how long it took. */
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
	// The timer was late because of this process's own work.
	return {
		seconds: (performance.now() - began) / 1000,
		ownSeconds: Math.max(ownMs / 1000, (user + system) / 1e6),
		error,
	};
}

/** Returns the processor time that this work takes, in milliseconds. Other load does not matter. */
export function cpuMsOf(work: () => unknown): number {
	const before = process.cpuUsage();
	work();
	const {user, system} = process.cpuUsage(before);
	return (user + system) / 1000;
}
