import {retryJobs} from '../../core/operations/jobs/jobs.js';
import {jobIdOf} from '../../core/rules/jobs/ids.js';
import type {Command} from '../../command-line/command.js';
import {startWrappers} from '../shared/detached/start-wrappers.js';
import {onFlag, runOnNamedHost} from '../shared/hosts/on-flag.js';
import {withWorld} from '../shared/with-world.js';
import {jobIdsOf} from './job-words.js';

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
	words: 'jobs',
	async run(app, input) {
		const ids = jobIdsOf(input, 'retry');
		const exitCode = await runOnNamedHost(app, input, retry);
		if (exitCode !== undefined) {
			return exitCode;
		}

		return withWorld(app, {}, async (world) => {
			if (world.engine !== undefined) {
				app.print(startedText(await world.engine.jobs.retry(app.requester(undefined), ids)));
				return 0;
			}

			const detaching = await app.loadDetaching();
			detaching.prepareLogs();
			const jobs = await retryJobs(
				world,
				app.requester(undefined),
				ids,
				({words, directory, seal}) => seal === detaching.seal([words, directory]),
			);
			await startWrappers(app, world, jobs, {isNewLog: false});
			app.print(startedText(jobs.map((job) => jobIdOf(job))));
			return 0;
		});
	},
};
