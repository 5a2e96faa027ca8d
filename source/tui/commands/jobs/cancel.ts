/** `x` in the jobs: cancels the tagged jobs, or else the selected one. */
import {isRoot} from '../../../core/rules/leases/ownership.js';
import {isOver} from '../../../core/rules/jobs/start.js';
import {sanitize} from '../../../format/text/text.js';
import {defineJobsCommand} from '../shared/jobs-command.js';

export const cancelJob = defineJobsCommand({
	word: 'cancel',
	keys: {keys: ['x', 'ctrl-d'], help: ['Queue and processes', 'cancel the job'], footer: ['x', 'Cancel']},
	problemOf(job, {settings: {requester}}) {
		if (isOver(job)) {
			return `Job ${sanitize(job.id)} has already ended`;
		}

		return job.account === requester.account || isRoot(requester)
			? undefined
			: `Job ${sanitize(job.id)} belongs to ${sanitize(job.account)}: only its owner can cancel it`;
	},
	title: (jobs) => `Cancel ${jobs}`,
	question: (jobs) => `Cancel ${jobs}?`,
	warning: (jobs) =>
		jobs.some(({state}) => state === 'running')
			? 'A running command gets SIGTERM, and after 30 seconds SIGKILL.'
			: undefined,
	meanwhile: (jobs) => `asked ${jobs} to end`,
});
