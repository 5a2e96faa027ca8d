/** Makes `work` run at most once at a time: who calls while it runs gets the answer of the run under way. */
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
