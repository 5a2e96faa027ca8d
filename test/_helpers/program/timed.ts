import process from 'node:process';

export type Timed = {
	/** Elapsed wall-clock time. */
	readonly seconds: number;
	/** The part of `seconds` in which this process could run. Excludes delays caused by a busy machine. */
	readonly ownSeconds: number;
	/** The error of a rejected promise. */
	readonly error: unknown;
};

const tickMs = 20;

/** Measures a promise, and catches its error. */
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
	// The ticks were late because of this process's own work.
	return {
		seconds: (performance.now() - began) / 1000,
		ownSeconds: Math.max(ownMs / 1000, (user + system) / 1e6),
		error,
	};
}

/** Milliseconds of processor time that this work took, independent of other load. */
export function cpuMsOf(work: () => unknown): number {
	const before = process.cpuUsage();
	work();
	const {user, system} = process.cpuUsage(before);
	return (user + system) / 1000;
}
