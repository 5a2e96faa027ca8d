import process from 'node:process';

export const percentile = (values: readonly number[], share: number): number => {
	const order = values.toSorted((a, b) => a - b);
	return order[Math.min(order.length - 1, Math.floor(order.length * share))] ?? NaN;
};

export const median = (values: readonly number[]): number => percentile(values, 0.5);

/** Milliseconds that it took. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
	const started = performance.now();
	await work();
	return performance.now() - started;
}

/** One line of the report. A figure over its limit fails the run. */
export function report(
	name: string,
	figure: number,
	{limit, unit}: {readonly limit: number; readonly unit: string},
): void {
	const isMet = figure <= limit;
	process.stdout.write(`${isMet ? 'ok  ' : 'MISS'}  ${name}: ${figure.toFixed(2)} ${unit} (at most ${limit})\n`);
	process.exitCode = isMet ? process.exitCode : 1;
}

/** A figure without a limit. */
export function printFigure(name: string, figure: number, unit: string): void {
	process.stdout.write(`      ${name}: ${figure.toFixed(3)} ${unit}\n`);
}
