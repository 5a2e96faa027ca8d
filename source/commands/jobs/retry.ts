import type {Command} from '../../command-line/command.js';
import {interruptedText} from '../../format/jobs.js';
import {onFlag, runOnNamedHost} from '../shared/hosts/on-flag.js';
import {withWorld} from '../shared/with-world.js';
import {jobIdsOf} from './job-words.js';
import {startAgain} from './start-again.js';

const startedText = (ids: readonly string[]): string =>
	`Started ${ids.length === 1 ? 'job' : 'jobs'} ${ids.join(', ')} again`;

export const retry: Command = {
	name: 'retry',
	summary: 'Run jobs that have ended again',
	usage: 'ID...',
	examples: [
		['canhazgpu retry 7', 'with the same id, appending to the same output'],
		['canhazgpu retry 7_3', 'only index 3 of array 7'],
	],
	notes: ['The command starts in its original directory, with the environment variables of this shell.'],
	flags: {on: onFlag},
	takesWords: true,
	takesSeveralWords: true,
	words: 'jobs',
	async run(app, input) {
		const ids = jobIdsOf(input, 'retry');
		const exitCode = await runOnNamedHost(app, input, retry);
		if (exitCode !== undefined) {
			return exitCode;
		}

		return withWorld(app, {keepReconnecting: true}, async (world) => {
			const interruption = app.interruption();
			try {
				const {signal} = interruption;
				const again = await startAgain(app, world, app.requester(undefined), {ids, signal});
				if (again.failure !== undefined) {
					throw again.failure;
				}

				if (again.interrupted === 0) {
					app.print(startedText(again.ids));
				} else {
					app.remark(interruptedText(again.interrupted, again.ids.length));
				}

				return signal.aborted ? interruption.exitCode() : 0;
			} finally {
				interruption.end();
			}
		});
	},
};
