/** `R` in the jobs: starts the tagged jobs again, or else the selected one. */
import {isOver} from '../../../core/rules/jobs/start.js';
import {sanitize} from '../../../format/text/text.js';
import {defineJobsCommand} from '../shared/jobs-command.js';

export const retryJob = defineJobsCommand({
	word: 'retry',
	keys: {keys: ['R'], help: ['Queue and processes', 'start the job again'], footer: ['R', 'Retry', 3]},
	problemOf(job, {settings: {requester}}) {
		if (job.account !== requester.account) {
			return `Job ${sanitize(job.id)} belongs to ${sanitize(job.account)}: only its owner can start it again`;
		}

		return isOver(job) ? undefined : `Job ${sanitize(job.id)} has not ended: x cancels it`;
	},
	title: (jobs) => `Retry ${jobs}`,
	question: (jobs) => `Start ${jobs} again?`,
	meanwhile: (jobs) => `starting ${jobs} again`,
});
