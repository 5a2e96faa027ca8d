/** Asking several hosts at once: one that fails costs the others nothing. */
import {CanhazgpuError} from '../../../errors.js';
import type {App} from '../../../app/contract.js';
import {createProgressLine} from '../progress-line.js';

/** Why a host gives no answer, in words. */
type FailedAnswer = {readonly host: string; readonly error: string};

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
The answer of this host. Undefined where it has no pool and others are named: a laptop is no box that fails.

@param others - The names of the other hosts.
*/
export async function ownAnswerFrom<Answer>(
	app: App,
	others: readonly string[],
	ask: () => Promise<Answer>,
): Promise<Answer | FailedAnswer | undefined> {
	return answerFrom(app.host.hostname, async () => {
		try {
			return await ask();
		} catch (error) {
			if (error instanceof CanhazgpuError && error.code === 'no-pool' && others.length > 0) {
				return undefined;
			}

			throw error;
		}
	});
}

/**
Asks this host and the others, all at once, and shows which are still being asked.

@returns That of this host first, where it has a pool, and the others as they are given.
*/
export async function askHosts<Answer>(
	app: App,
	others: readonly string[],
	{own, other}: {readonly own: () => Promise<Answer>; readonly other: (host: string) => Promise<Answer>},
): Promise<ReadonlyArray<Answer | FailedAnswer>> {
	const progressLine = createProgressLine(app, others);
	const ask = async (host: string): Promise<Answer | FailedAnswer> => {
		try {
			return await answerFrom(host, async () => other(host));
		} finally {
			progressLine.answered(host);
		}
	};

	try {
		const [ownAnswer, ...answers] = await Promise.all([
			ownAnswerFrom(app, others, own),
			...others.map(async (host) => ask(host)),
		]);
		return [ownAnswer, ...answers].filter((answer) => answer !== undefined);
	} finally {
		progressLine.end();
	}
}

/** A host that is asked when Ctrl-C comes is asked no longer: nothing is left running, and nothing is shown. */
export async function untilInterrupted(app: App, show: (signal: AbortSignal) => Promise<void>): Promise<number> {
	const interruption = app.interruption();
	const {signal} = interruption;
	try {
		await show(signal);
		return signal.aborted ? interruption.exitCode() : 0;
	} catch (error) {
		if (signal.aborted) {
			return interruption.exitCode();
		}

		throw error;
	} finally {
		interruption.end();
	}
}
