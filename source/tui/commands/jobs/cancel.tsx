/** `x` in the jobs: cancels the tagged jobs, or else the selected one. */
import type {ReactElement} from 'react';
import {isRoot} from '../../../core/rules/leases/ownership.js';
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
	if (isOver(job)) {
		return `Job ${sanitize(job.id)} has already ended`;
	}

	return job.account === requester.account || isRoot(requester)
		? undefined
		: `Job ${sanitize(job.id)} belongs to ${sanitize(job.account)}: only its owner can cancel it`;
};

function CancelDialog({dialog: {jobs, isBusy}}: {readonly dialog: Confirmation<JobsToChange>}): ReactElement {
	const isRunning = jobs.some(({state}) => state === 'running');
	return (
		<Confirm
			title={`Cancel ${jobsText(jobs)}`}
			question={`Cancel ${jobsText(jobs)}?`}
			warning={isRunning ? 'A running command gets SIGTERM, and after 30 seconds SIGKILL.' : undefined}
			isBusy={isBusy}
		>
			<JobLines jobs={jobs} />
		</Confirm>
	);
}

export const cancelJob = defineCommand<Confirmation<JobsToChange>>({
	name: 'cancel-job',
	keys: {
		modes: ['jobs'],
		keys: ['x', 'ctrl-d'],
		help: ['Queue and processes', 'cancel the job'],
		footer: ['x', 'Cancel'],
	},
	reasonAgainst: firstReason(reasonAgainstChange, reasonAgainstJobs(problemOf)),
	open: (state) => ask('cancel-job', {jobs: jobsFor(state, problemOf)}),
	shellCommand: ({jobs}) => shellCommand(['canhazgpu', ...wordsFor('cancel', jobs)]),
	perform: async (context, {jobs}) => runForJobs(context, wordsFor('cancel', jobs), `asked ${jobsText(jobs)} to end`),
	Dialog: CancelDialog,
});
