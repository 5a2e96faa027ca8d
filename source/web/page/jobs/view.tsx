/** The detached jobs: those that run, those that wait, and those that ended during the last day. */
import {useEffect, useState} from 'preact/hooks';
import type {Job} from '../fields.js';
import {useAnswer} from '../shared/answer.js';
import type {ViewProps} from '../slots.js';
import {counted} from '../text.js';
import {JobItem} from './job.js';
import {groupOf, groupTitles, type Group} from './groups.js';

/** Interval in ms between requests while the pool does not change. Needed because a job that is killed announces no change. */
const renewMs = 15_000;

function useRounds(isShown: boolean): number {
	const [rounds, setRounds] = useState(0);
	useEffect(() => {
		const timer = setInterval(() => {
			if (isShown && !document.hidden) {
				setRounds((count) => count + 1);
			}
		}, renewMs);
		return () => {
			clearInterval(timer);
		};
	}, [isShown]);
	return rounds;
}

/** Number of jobs that a group shows while its list is folded. */
const mostShown = 25;

type ListProps = {
	readonly group: Group;
	readonly jobs: readonly Job[];
	readonly siblingsOf: (job: Job) => number;
};

function JobGroup({group, jobs, siblingsOf}: ListProps) {
	const items = jobs.map((job) => <JobItem key={job.id} job={job} siblings={siblingsOf(job)} />);
	const others = items.length - mostShown;
	return (
		<section aria-labelledby={`jobs-${group}`}>
			<div class="section-head">
				<h2 id={`jobs-${group}`}>{groupTitles[group]}</h2>
				<span class="count">{jobs.length}</span>
			</div>
			<ol class="panel jobs">
				{items.slice(0, mostShown)}
				{others > 0 && (
					<li>
						<details>
							<summary class="quiet">{counted(others, 'other')}</summary>
							<ol>{items.slice(mostShown)}</ol>
						</details>
					</li>
				)}
			</ol>
		</section>
	);
}

/** Puts the account's own jobs first. Of jobs that have ended, those that ended last come first. */
function ordered(jobs: readonly Job[], own: string | undefined): readonly Job[] {
	const endOf = ({end_time: end}: Job): number => (end === undefined ? 0 : Date.parse(end));
	const isOwn = ({account}: Job): number => Number(account === own);
	return jobs.toSorted((a, b) => (isOwn(a) === isOwn(b) ? endOf(b) - endOf(a) : isOwn(b) - isOwn(a)));
}

export default function JobsView({state: {about, leaseChanges}, isShown}: ViewProps) {
	const rounds = useRounds(isShown);
	const {value, problem} = useAnswer<readonly Job[]>(
		isShown ? '/api/jobs' : undefined,
		'The list of jobs',
		`${leaseChanges} ${rounds}`,
	);
	const groups = Map.groupBy(ordered(value ?? [], about?.acts_as), groupOf);
	const active = [...(groups.get('running') ?? []), ...(groups.get('waiting') ?? [])];
	const byArray = Map.groupBy(active, ({array_id: array}) => array);
	return (
		<>
			<div class="section-head">
				<h1 id="jobs-title" tabindex={-1}>
					Jobs
				</h1>
			</div>
			{problem !== undefined && <p class="banner">{problem}</p>}
			{value === undefined && problem === undefined && <p class="panel quiet">Loading…</p>}
			{value?.length === 0 && (
				<p class="panel quiet">
					No job waits, runs or ended during the last day. To submit one: <code>canhazgpu run --detach -- COMMAND</code>
				</p>
			)}
			<div class="job-groups">
				{(Object.keys(groupTitles) as readonly Group[]).map((group) => {
					const jobs = groups.get(group);
					return (
						jobs && (
							<JobGroup
								key={group}
								group={group}
								jobs={jobs}
								siblingsOf={({array_id: array}) => (array === undefined ? 0 : (byArray.get(array)?.length ?? 0) - 1)}
							/>
						)
					);
				})}
			</div>
		</>
	);
}
