import {CanhazgpuError, isMissingPart} from '../../errors.js';

/** Calls `work`. If a module is missing because an update replaced this program, throws an error that says so. */
export async function namingReplaced<Result>(work: () => Promise<Result>): Promise<Result> {
	try {
		return await work();
	} catch (error) {
		if (isMissingPart(error)) {
			throw new CanhazgpuError('failed', 'The program was replaced or removed while this monitor was running', {
				hint: 'Press q to quit, and start the monitor again.',
				cause: error,
			});
		}

		throw error;
	}
}
