import type {Command} from '../../command-line/command.js';
import {onFlag, runOnNamedHost} from '../shared/hosts/on-flag.js';
import {withWorld} from '../shared/with-world.js';
import {cancelAndWait, stuckError} from './cancel-and-wait.js';
import {jobIdsOf} from './job-words.js';

const alreadyEnded = (ids: readonly string[]): string =>
	ids.length === 1 ? `Job ${ids[0]} has already ended` : 'These jobs have already ended';

const cancelledText = (ids: readonly string[]): string =>
	`Cancelled ${ids.length === 1 ? 'job' : 'jobs'} ${ids.join(', ')}`;

export const cancel: Command = {
	name: 'cancel',
	summary: 'Cancel jobs submitted with run --detach',
	usage: 'ID...',
	examples: [
		['canhazgpu cancel 7', 'job 7, or every job of array 7'],
		['canhazgpu cancel 7_3 8', 'index 3 of array 7, and job 8'],
	],
	flags: {on: onFlag},
	notes: [
		'A running command and all processes that it has started get SIGTERM. Those that remain after 30 seconds get SIGKILL.',
	],
	takesWords: true,
	takesSeveralWords: true,
	words: 'jobs',
	// A command that ignores SIGTERM is killed after 30 seconds.
	secondsElsewhere: 60,
	async run(app, input) {
		const ids = jobIdsOf(input, 'cancel');
		const exitCode = await runOnNamedHost(app, input, cancel);
		if (exitCode !== undefined) {
			return exitCode;
		}

		return withWorld(app, {}, async (world) => {
			const {cancelled, stuck} = await cancelAndWait(app, world, {requester: app.requester(undefined), ids});
			if (cancelled.length > 0) {
				app.print(cancelledText(cancelled));
			}

			if (stuck !== undefined) {
				throw stuckError(stuck);
			}

			if (cancelled.length === 0) {
				app.print(alreadyEnded(ids));
			}

			return 0;
		});
	},
};
