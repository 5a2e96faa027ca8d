import type {Job} from '../fields.js';
import {Watch} from '../observable.js';
import {JobActions} from '../slots.js';
import {now} from '../state/store.js';
import {duration, joined, noteWords, sinceText} from '../text.js';
import {PersonName} from '../widgets.js';

const stateNames: Readonly<Record<Job['state'], string>> = {
	pending: 'Pending',
	queued: 'Queued',
	running: 'Running',
	completed: 'Completed',
	failed: 'Failed',
	timeout: 'Timeout',
	cancelled: 'Cancelled',
	lost: 'Lost',
};

function timeText({submit_time: submitted, start_time: started, end_time: ended}: Job, nowMs: number): string {
	if (ended === undefined) {
		return `for ${sinceText(started ?? submitted, nowMs)}`;
	}

	return joined(
		`ended ${sinceText(ended, nowMs)} ago`,
		started === undefined ? '' : `ran ${duration(Date.parse(ended) - Date.parse(started))}`,
	);
}

export const JobItem = ({job, siblings}: {readonly job: Job; readonly siblings: number}) => (
	<li class="job" data-job={job.id} data-kind={job.state}>
		<span class="job-id">
			<span class="unseen">Job </span>
			{job.id}
		</span>
		<span class="job-state">{stateNames[job.state]}</span>
		<code class="job-command" title={job.command} dir="auto">
			{job.command}
		</code>
		<PersonName user={job.account} />
		<span class="job-details" dir="auto">
			{noteWords({note: job.details, via: job.via})}
		</span>
		<span class="time">
			<Watch of={now}>{(nowMs) => timeText(job, nowMs)}</Watch>
		</span>
		<JobActions job={job} siblings={siblings} />
	</li>
);
