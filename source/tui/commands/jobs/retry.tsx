/** `R` in the jobs: starts the tagged jobs again, or else the selected one. */
import type {ReactElement} from 'react';
import {isOver} from '../../../core/rules/jobs/start.js';
import {shellCommand} from '../../../format/text/shell.js';
import {sanitize} from '../../../format/text/text.js';
import {Confirm} from '../../dialogs/confirm.js';
import {ask, type Confirmation} from '../../state/dialogs.js';
import {firstReason, reasonAgainstChange} from '../shared/reasons.js';
import {defineCommand} from '../command.js';
import {
	JobLines,
	jobsFor,
	jobsText,
	reasonAgainstJobs,
	runForJobs,
	wordsFor,
	type JobsToChange,
	type ProblemOf,
} from '../shared/chosen-jobs.js';

const problemOf: ProblemOf = (job, {settings: {requester}}) => {
	if (job.account !== requester.account) {
		return `Job ${sanitize(job.id)} belongs to ${sanitize(job.account)}: only its owner can start it again`;
	}

	return isOver(job) ? undefined : `Job ${sanitize(job.id)} has not ended: x cancels it`;
};

const RetryDialog = ({dialog: {jobs, isBusy}}: {readonly dialog: Confirmation<JobsToChange>}): ReactElement => (
	<Confirm title={`Retry ${jobsText(jobs)}`} question={`Start ${jobsText(jobs)} again?`} isBusy={isBusy}>
		<JobLines jobs={jobs} />
	</Confirm>
);

export const retryJob = defineCommand<Confirmation<JobsToChange>>({
	name: 'retry-job',
	keys: {
		modes: ['jobs'],
		keys: ['R'],
		help: ['Queue and processes', 'start the job again'],
		footer: ['R', 'Retry', 3],
	},
	reasonAgainst: firstReason(reasonAgainstChange, reasonAgainstJobs(problemOf)),
	open: (state) => ask('retry-job', {jobs: jobsFor(state, problemOf)}),
	shellCommand: ({jobs}) => shellCommand(['canhazgpu', ...wordsFor('retry', jobs)]),
	perform: async (context, {jobs}) => runForJobs(context, wordsFor('retry', jobs), `starting ${jobsText(jobs)} again`),
	Dialog: RetryDialog,
});
