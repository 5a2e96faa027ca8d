import {CanhazgpuError, isMissingPart} from '../../errors.js';

/** Replaces the error of a module that an update has removed while the monitor was running. */
export async function namingReplaced<Result>(work: () => Promise<Result>): Promise<Result> {
	try {
		return await work();
	} catch (error) {
		if (isMissingPart(error)) {
			throw new CanhazgpuError('failed', 'The program was replaced or removed while this monitor ran', {
				hint: 'Leave the monitor with q, and start it again.',
				cause: error,
			});
		}

		throw error;
	}
}
