/** Defines a command that acts on the tagged jobs, or else on the selected one, after a question. */
import type {ReactElement} from 'react';
import type {JobRow} from '../../../core/rules/jobs/rows.js';
import {CanhazgpuError} from '../../../errors.js';
import {shellCommand} from '../../../format/text/shell.js';
import {sanitize, shorten} from '../../../format/text/text.js';
import {Confirm} from '../../dialogs/confirm.js';
import {ask, type Confirmation} from '../../state/dialogs.js';
import type {KeyHint} from '../../state/modes.js';
import {chosenJobs, jobTable} from '../../state/jobs/rows.js';
import type {State} from '../../state/state.js';
import {noRowIn} from '../../state/table/table.js';
import {Label} from '../../widgets/label.js';
import {defineCommand, failed, succeeded, type EffectContext, type MonitorCommand, type Outcome} from '../command.js';
import {firstReason, reasonAgainstChange} from './reasons.js';

/** Returns why a command cannot act on a job. Undefined if it can. */
type ProblemOf = (job: JobRow, state: State) => string | undefined;

/** Returns the chosen jobs on which a command can act. */
const jobsFor = (state: State, problemOf: ProblemOf): readonly JobRow[] =>
	chosenJobs(state).filter((job) => problemOf(job, state) === undefined);

/** Returns why a command cannot act on any of the chosen jobs. */
const reasonAgainstJobs =
	(problemOf: ProblemOf) =>
	(state: State): string | undefined => {
		const [first] = chosenJobs(state);
		if (first === undefined) {
			return noRowIn(jobTable, state);
		}

		return jobsFor(state, problemOf).length > 0 ? undefined : problemOf(first, state);
	};

type JobsToChange = {readonly jobs: readonly JobRow[]};

const jobsText = (jobs: readonly JobRow[]): string =>
	`${jobs.length === 1 ? 'job' : 'jobs'} ${jobs.map(({id}) => sanitize(id)).join(', ')}`;

const mostListed = 6;

/** Lists the jobs that a dialog is about. */
const JobLines = ({jobs}: JobsToChange): ReactElement => (
	<>
		{jobs.slice(0, mostListed).map(({id, state, command}) => (
			<Label key={id} tone="dim">
				{sanitize(id)} {state}: {shorten(sanitize(command), 60)}
			</Label>
		))}
		{jobs.length > mostListed ? <Label tone="dim">and {jobs.length - mostListed} more</Label> : undefined}
	</>
);

/** How long the dialog stays open. A job that is cancelled can take 30 seconds to end. */
const patienceMs = 1000;

/** Shows the outcome of a command whose dialog is already closed. */
async function announce({store, refresh}: EffectContext, running: Promise<readonly string[]>): Promise<void> {
	try {
		const lines = await running;
		store.dispatch(succeeded(lines[0] ?? 'done'));
	} catch (error) {
		if (!(error instanceof CanhazgpuError)) {
			throw error;
		}

		store.dispatch(failed(sanitize([error.message, error.hint].filter(Boolean).join('. '))));
	}

	refresh();
}

/** Runs a command for jobs, as it is typed after `:`. If it takes long, closes the dialog and shows the outcome later. */
async function runForJobs(
	context: EffectContext,
	words: readonly string[],
	meanwhile: string,
): Promise<Outcome> {
	const {
		ports: {commandLine},
		world: {clock},
	} = context;
	if (commandLine === undefined) {
		return failed('This monitor has no command line');
	}

	const line = words.join(' ');
	const running = commandLine.run(line, {signal: new AbortController().signal, onWaiting: () => undefined});
	const lines = await Promise.race([running, clock.sleep(patienceMs)]);
	if (lines === undefined) {
		void announce(context, running);
		return succeeded(meanwhile);
	}

	return {kind: 'printed', title: `$ ${commandLine.inShell(line)}`, lines};
}

type JobsCommand = {
	/** The word of the command line, such as `cancel`. */
	readonly word: 'cancel' | 'retry';
	readonly keys: Omit<KeyHint, 'modes'>;
	readonly problemOf: ProblemOf;
	readonly title: (jobs: string) => string;
	readonly question: (jobs: string) => string;
	readonly warning?: (jobs: readonly JobRow[]) => string | undefined;
	/** Returns the message that is shown if the command takes long. */
	readonly meanwhile: (jobs: string) => string;
};

export function defineJobsCommand({
	word,
	keys,
	problemOf,
	title,
	question,
	warning,
	meanwhile,
}: JobsCommand): MonitorCommand {
	const name = `${word}-job`;
	const wordsFor = (jobs: readonly JobRow[]): readonly string[] => [word, ...jobs.map(({id}) => id)];
	return defineCommand<Confirmation<JobsToChange>>({
		name,
		keys: {...keys, modes: ['jobs']},
		reasonAgainst: firstReason(reasonAgainstChange, reasonAgainstJobs(problemOf)),
		open: (state) => ask(name, {jobs: jobsFor(state, problemOf)}),
		shellCommand: ({jobs}) => shellCommand(['canhazgpu', ...wordsFor(jobs)]),
		perform: async (context, {jobs}) => runForJobs(context, wordsFor(jobs), meanwhile(jobsText(jobs))),
		Dialog: ({dialog: {jobs, isBusy}}) => (
			<Confirm
				title={title(jobsText(jobs))}
				question={question(jobsText(jobs))}
				warning={warning?.(jobs)}
				isBusy={isBusy}
			>
				<JobLines jobs={jobs} />
			</Confirm>
		),
	});
}
