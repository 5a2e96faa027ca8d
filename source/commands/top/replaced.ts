/** A monitor runs for days, and what it loads late may be another version by then, or gone: an update takes the files away under it. */
import {CanhazgpuError, isMissingPart} from '../../errors.js';

/** @throws CanhazgpuError `failed` that says what to do, instead of the error of a part that is not there any more. */
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
