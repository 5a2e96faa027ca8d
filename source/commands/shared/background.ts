/**
Work beside a job or a wait, such as heartbeats, reminders and notices. Its failure is said once, and ends neither the wrapper nor the waiter.
*/
import {CanhazgpuError, messageOf} from '../../errors.js';
import {stackText} from '../../format/text/text.js';

type Background = {
	/** Does the work and answers its result; undefined when it failed. Never rejects. */
	readonly attempt: <Result>(work: () => Result | Promise<Result>) => Promise<Result | undefined>;
	/** Says a failure, unless the same words were said before. */
	readonly failed: (error: unknown) => void;
};

/**
Makes the one place that catches.

@param report - Given the words of each bug, once. A store that is away is no bug: it is asked again, and the verb itself says so.
*/
export function createBackground(report: (words: string) => void): Background {
	const said = new Set<string>();
	const failed = (error: unknown): void => {
		const what = messageOf(error);
		if (error instanceof CanhazgpuError || said.has(what)) {
			return;
		}

		said.add(what);
		report(`canhazgpu: this is a bug in canhazgpu, which changes nothing for what runs or waits:\n${stackText(error)}`);
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
