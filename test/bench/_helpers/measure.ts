import {spawnSync} from 'node:child_process';
import process from 'node:process';

export const percentile = (values: readonly number[], share: number): number => {
	const order = values.toSorted((a, b) => a - b);
	return order[Math.min(order.length - 1, Math.floor(order.length * share))] ?? NaN;
};

export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** Returns the duration of some work in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
	const started = performance.now();
	await work();
	return performance.now() - started;
}

/** Returns the median time in milliseconds that Node takes to start and exit. All time limits are in this unit, because machines differ in speed. */
export function bareStart(): number {
	const figures = Array.from({length: 11}, () => {
		const started = performance.now();
		spawnSync(process.execPath, ['-e', '0']);
		return performance.now() - started;
	});
	return median(figures);
}

/** Reports a time in bare starts of Node, measured now. About half of each limit is a margin for a busy machine. */
export function reportTime(name: string, milliseconds: number, limit: number): void {
	printFigure(name, milliseconds, 'ms');
	report(name, milliseconds / bareStart(), {limit, unit: 'bare starts of Node'});
}

/** Prints a line of the report. A figure over its limit fails the run. */
export function report(
	name: string,
	figure: number,
	{limit, unit}: {readonly limit: number; readonly unit: string},
): void {
	const isMet = figure <= limit;
	process.stdout.write(`${isMet ? 'ok  ' : 'MISS'}  ${name}: ${figure.toFixed(2)} ${unit} (at most ${limit})\n`);
	process.exitCode = isMet ? process.exitCode : 1;
}

/** Prints a figure without a limit. */
export function printFigure(name: string, figure: number, unit: string): void {
	process.stdout.write(`      ${name}: ${figure.toFixed(3)} ${unit}\n`);
}
