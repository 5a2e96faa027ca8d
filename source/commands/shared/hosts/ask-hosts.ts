/** Asking several hosts at once: one that fails costs the others nothing. */
import {CanhazgpuError} from '../../../errors.js';
import type {App} from '../../../app/contract.js';
import {createAskingLine} from '../progress-line.js';

/** Why a host gives no answer, in words. */
export type FailedAnswer = {readonly host: string; readonly error: string};

/** The answer of a host, or why there is none. Anything but a CanhazgpuError is a bug, and thrown again. */
export async function answerFrom<Answer>(host: string, ask: () => Promise<Answer>): Promise<Answer | FailedAnswer> {
	try {
		return await ask();
	} catch (error) {
		if (!(error instanceof CanhazgpuError)) {
			throw error;
		}

		return {host, error: error.message};
	}
}

/**
Asks this host and the others, all at once, and shows which are still being asked.

@returns That of this host first, the others as they are given.
*/
export async function askHosts<Answer>(
	app: App,
	others: readonly string[],
	{own, other}: {readonly own: () => Promise<Answer>; readonly other: (host: string) => Promise<Answer>},
): Promise<ReadonlyArray<Answer | FailedAnswer>> {
	const asking = createAskingLine(app, others);
	const ask = async (host: string): Promise<Answer | FailedAnswer> => {
		try {
			return await answerFrom(host, async () => other(host));
		} finally {
			asking.answered(host);
		}
	};

	try {
		return await Promise.all([answerFrom(app.host.hostname, own), ...others.map(async (host) => ask(host))]);
	} finally {
		asking.end();
	}
}
