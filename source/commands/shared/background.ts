/** Background work during a job or a wait, such as heartbeats. A failure does not end the job or the wait. */
import {CanhazgpuError, messageOf} from '../../errors.js';
import {stackText} from '../../format/text/text.js';

type Background = {
	/** Returns the result of the work, or undefined if it failed. Never rejects. */
	readonly attempt: <Result>(work: () => Result | Promise<Result>) => Promise<Result | undefined>;
	readonly failed: (error: unknown) => void;
};

/** Creates a runner for background work. `report` gets each bug once, and no other errors, such as an unreachable store. */
export function createBackground(report: (words: string) => void): Background {
	const said = new Set<string>();
	const failed = (error: unknown): void => {
		const what = messageOf(error);
		if (error instanceof CanhazgpuError || said.has(what)) {
			return;
		}

		said.add(what);
		report(
			`canhazgpu: this is a bug in canhazgpu. It does not affect running jobs or waiting requests:\n${stackText(error)}`,
		);
	};

	return {
		failed,
		async attempt(work) {
			try {
				return await work();
			} catch (error) {
				failed(error);
				return undefined;
			}
		},
	};
}
