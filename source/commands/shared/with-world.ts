import type {App, OpenOptions, OpenWorld} from '../../app/contract.js';

/** Opens the pool, calls `work`, and closes the pool. If both `work` and closing fail, throws the error of `work`. */
export async function withWorld<Result>(
	app: Pick<App, 'open'>,
	options: OpenOptions,
	work: (world: OpenWorld) => Promise<Result>,
): Promise<Result> {
	const world = await app.open(options);
	let result: Result;
	try {
		result = await work(world);
	} catch (error) {
		await world.close().catch(() => undefined);
		throw error;
	}

	await world.close();
	return result;
}
