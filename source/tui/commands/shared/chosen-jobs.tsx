/** The parts that the commands for jobs share. */
import type {ReactElement} from 'react';
import type {JobRow} from '../../../core/rules/jobs/rows.js';
import {CanhazgpuError} from '../../../errors.js';
import {sanitize, shorten} from '../../../format/text/text.js';
import {chosenJobs, jobTable} from '../../state/jobs/rows.js';
import type {State} from '../../state/state.js';
import {noRowIn} from '../../state/table/table.js';
import {Label} from '../../widgets/label.js';
import {failed, succeeded, type EffectContext, type Outcome} from '../command.js';

/** Returns why a command cannot act on a job. Undefined if it can. */
export type ProblemOf = (job: JobRow, state: State) => string | undefined;

/** Returns the chosen jobs on which a command can act. */
export const jobsFor = (state: State, problemOf: ProblemOf): readonly JobRow[] =>
	chosenJobs(state).filter((job) => problemOf(job, state) === undefined);

/** Returns why a command cannot act on any of the chosen jobs. */
export const reasonAgainstJobs =
	(problemOf: ProblemOf) =>
	(state: State): string | undefined => {
		const [first] = chosenJobs(state);
		if (first === undefined) {
			return noRowIn(jobTable, state);
		}

		return jobsFor(state, problemOf).length > 0 ? undefined : problemOf(first, state);
	};

export type JobsToChange = {readonly jobs: readonly JobRow[]};

export const jobsText = (jobs: readonly JobRow[]): string =>
	`${jobs.length === 1 ? 'job' : 'jobs'} ${jobs.map(({id}) => sanitize(id)).join(', ')}`;

const mostListed = 6;

/** Lists the jobs that a dialog is about. */
export const JobLines = ({jobs}: JobsToChange): ReactElement => (
	<>
		{jobs.slice(0, mostListed).map(({id, state, command}) => (
			<Label key={id} tone="dim">
				{sanitize(id)} {state}: {shorten(sanitize(command), 60)}
			</Label>
		))}
		{jobs.length > mostListed ? <Label tone="dim">and {jobs.length - mostListed} more</Label> : undefined}
	</>
);

export const wordsFor = (command: 'cancel' | 'retry', jobs: readonly JobRow[]): readonly string[] => [
	command,
	...jobs.map(({id}) => id),
];

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
export async function runForJobs(
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
