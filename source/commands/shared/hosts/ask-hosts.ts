import {CanhazgpuError} from '../../../errors.js';
import type {App} from '../../../app/contract.js';
import {createProgressLine} from '../progress-line.js';

type FailedAnswer = {readonly host: string; readonly error: string};

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

/** Returns the answer of this host. Returns undefined if this host has no pool and `others` are configured, as on a laptop. */
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

/** Asks all hosts in parallel and shows which hosts have not answered yet. This host comes first, if it has a pool. */
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
