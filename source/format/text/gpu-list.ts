/** Returns `GPU 3`, `GPUs 1,3` or `GPUs 43-59`. More than `most` are only counted: `12 GPUs`. */
export const gpuList = (gpus: readonly number[], most = Infinity): string =>
	gpus.length > most ? `${gpus.length} GPUs` : `${gpus.length === 1 ? 'GPU' : 'GPUs'} ${gpuRanges(gpus)}`;

/** Returns sorted indices with ranges of at least `least`: `0-3,5,6`. */
export function gpuRanges(gpus: readonly number[], least = 3): string {
	const runs: Array<[first: number, last: number]> = [];
	for (const index of gpus.toSorted((a, b) => a - b)) {
		const run = runs.at(-1);
		if (run !== undefined && index === run[1] + 1) {
			run[1] = index;
		} else {
			runs.push([index, index]);
		}
	}

	return runs
		.flatMap(([first, last]) =>
			last - first + 1 < Math.max(2, least)
				? Array.from({length: last - first + 1}, (_, position) => String(first + position))
				: [`${first}-${last}`],
		)
		.join(',');
}
