/** Returns a function that runs `work` at most once at a time. A call during a run gets the result of that run. */
export const singleFlight = <Result>(work: () => Promise<Result>): (() => Promise<Result>) => {
	let underWay: Promise<Result> | undefined;
	const run = async () => {
		try {
			return await work();
		} finally {
			underWay = undefined;
		}
	};

	return async () => {
		underWay ??= run();
		return underWay;
	};
};
