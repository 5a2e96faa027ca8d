/** The keys of the panel of jobs. `x` cancels jobs, `R` starts them again, and `l` shows the output of a job. */
import type {ReactElement} from 'react';
import {isRoot} from '../../core/rules/leases/ownership.js';
import type {JobRow} from '../../core/rules/jobs/rows.js';
import {isOver} from '../../core/rules/jobs/start.js';
import {CanhazgpuError} from '../../errors.js';
import {shellCommand} from '../../format/text/shell.js';
import {sanitize, shorten} from '../../format/text/text.js';
import {Confirm} from '../dialogs/confirm.js';
import {ask, type Confirmation} from '../state/dialogs.js';
import {jobTable} from '../state/jobs/rows.js';
import {complaintText} from '../state/messages.js';
import type {KeyHint} from '../state/modes.js';
import type {State} from '../state/state.js';
import {noRowIn} from '../state/table/table.js';
import {useMonitor} from '../state/use-monitor.js';
import {Label} from '../widgets/label.js';
import {openLiveOutput} from './command-line.js';
import {
	defineCommand,
	failed,
	succeeded,
	warning,
	type EffectContext,
	type MonitorCommand,
	type Outcome,
} from './command.js';
import {firstReason, reasonAgainstChange} from './reasons.js';

type Jobs = readonly JobRow[];

/** A command for the tagged jobs, or else for the selected job. It is performed by a command line such as `cancel 7`. */
type JobCommand = {
	readonly word: 'cancel' | 'retry';
	readonly title: string;
	readonly keys: Omit<KeyHint, 'modes'>;
	readonly problemOf: (job: JobRow, state: State) => string | undefined;
	readonly questionOf: (jobs: string) => string;
	readonly warningOf?: (jobs: Jobs) => string | undefined;
	/** Returns the message that is shown while a slow command is still running. */
	readonly meanwhileOf: (jobs: string) => string;
};

const jobsText = (jobs: Jobs): string =>
	`${jobs.length === 1 ? 'job' : 'jobs'} ${jobs.map(({id}) => sanitize(id)).join(', ')}`;

const mostListed = 6;
const mostLeftOut = 3;

/** Time in ms after which the dialog closes although the command still runs, because a cancelled job can take 30 seconds to end. */
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

		store.dispatch(failed(sanitize(complaintText(error))));
	}

	refresh();
}

/** Runs a command line. If it takes long, closes the dialog and shows the outcome later. */
async function runLine(context: EffectContext, line: string, meanwhile: string): Promise<Outcome> {
	const {commandLine} = context.ports;
	if (commandLine === undefined) {
		return failed('This monitor has no command line');
	}

	const running = commandLine.run(line, {signal: new AbortController().signal, onWaiting: () => undefined});
	const lines = await Promise.race([running, context.world.clock.sleep(patienceMs)]);
	if (lines === undefined) {
		void announce(context, running);
		return succeeded(meanwhile);
	}

	return {kind: 'printed', title: `$ ${commandLine.inShell(line)}`, lines};
}

function ListedJob({job: {id, state, account, command: line}}: {readonly job: JobRow}): ReactElement {
	const own = useMonitor(({settings}) => settings.requester.account);
	const owner = account === own ? '' : ` of ${sanitize(account)}`;
	return (
		<Label tone="dim">
			{sanitize(id)}
			{owner} {state}: {shorten(sanitize(line), 60)}
		</Label>
	);
}

function defineJobCommand(command: JobCommand): MonitorCommand {
	const {word, title, keys, problemOf, questionOf, warningOf, meanwhileOf} = command;
	const name = `${word}-job`;
	const jobsFor = (state: State): Jobs => jobTable.chosen(state).filter((job) => problemOf(job, state) === undefined);
	const wordsFor = (jobs: Jobs): readonly string[] => [word, ...jobs.map(({id}) => id)];
	return defineCommand<Confirmation<{readonly jobs: Jobs; readonly leftOut: readonly string[]}>>({
		name,
		keys: {modes: ['jobs'], ...keys},
		reasonAgainst: firstReason(reasonAgainstChange, (state) => {
			const [first] = jobTable.chosen(state);
			return first === undefined
				? noRowIn(jobTable, state)
				: jobsFor(state).length > 0
					? undefined
					: problemOf(first, state);
		}),
		open: (state) =>
			ask(name, {
				jobs: jobsFor(state),
				leftOut: jobTable
					.chosen(state)
					.map((job) => problemOf(job, state))
					.filter((problem) => problem !== undefined),
			}),
		shellCommand: ({jobs}) => shellCommand(['canhazgpu', ...wordsFor(jobs)]),
		perform: async (context, {jobs}) => runLine(context, wordsFor(jobs).join(' '), meanwhileOf(jobsText(jobs))),
		Dialog: ({dialog: {jobs, leftOut, isBusy}}) => (
			<Confirm
				title={`${title} ${jobsText(jobs)}`}
				question={questionOf(jobsText(jobs))}
				warning={warningOf?.(jobs)}
				isBusy={isBusy}
			>
				{jobs.slice(0, mostListed).map((job) => (
					<ListedJob key={job.id} job={job} />
				))}
				{jobs.length > mostListed ? <Label tone="dim">and {jobs.length - mostListed} more</Label> : undefined}
				{leftOut.length > 0 ? (
					<Label tone="warning" wrap="wrap">
						Left out: {leftOut.slice(0, mostLeftOut).join('; ')}
						{leftOut.length > mostLeftOut ? ` and ${leftOut.length - mostLeftOut} more` : ''}
					</Label>
				) : undefined}
			</Confirm>
		),
	});
}

export const cancelJob = defineJobCommand({
	word: 'cancel',
	title: 'Cancel',
	keys: {keys: ['x', 'ctrl-d'], help: ['Queue and processes', 'cancel the job'], footer: ['x', 'Cancel']},
	problemOf(job, {settings: {requester}}) {
		if (isOver(job)) {
			return `Job ${sanitize(job.id)} has already ended`;
		}

		return job.account === requester.account || isRoot(requester)
			? undefined
			: `Job ${sanitize(job.id)} belongs to ${sanitize(job.account)}: only its owner can cancel it`;
	},
	questionOf: (jobs) => `Cancel ${jobs}?`,
	warningOf: (jobs) =>
		jobs.some(({state}) => state === 'running')
			? 'A running command gets SIGTERM, and after 30 seconds SIGKILL.'
			: undefined,
	meanwhileOf: (jobs) => `asked ${jobs} to end`,
});

export const retryJob = defineJobCommand({
	word: 'retry',
	title: 'Retry',
	keys: {keys: ['R'], help: ['Queue and processes', 'start the job again'], footer: ['R', 'Retry', 3]},
	problemOf(job, {settings: {requester}}) {
		if (job.account !== requester.account) {
			return `Job ${sanitize(job.id)} belongs to ${sanitize(job.account)}: only its owner can start it again`;
		}

		return isOver(job) ? undefined : `Job ${sanitize(job.id)} has not ended: x cancels it`;
	},
	questionOf: (jobs) => `Start ${jobs} again?`,
	meanwhileOf: (jobs) => `starting ${jobs} again`,
});

/** Shows the last lines of the selected job's output, and new lines as the job writes them. */
export const showLog = defineCommand({
	name: 'show-log',
	keys: {
		modes: ['jobs'],
		keys: ['l', 'enter'],
		help: ['Queue and processes', 'output of the job'],
		footer: ['l', 'Log', 1],
	},
	reasonAgainst(state) {
		const job = jobTable.selected(state);
		if (job === undefined) {
			return noRowIn(jobTable, state);
		}

		return job.account === state.settings.requester.account
			? undefined
			: `Job ${sanitize(job.id)} belongs to ${sanitize(job.account)}: only its owner can read its output`;
	},
	begin(context) {
		const {id} = jobTable.selected(context.store.getState())!;
		return openLiveOutput(context, `logs ${id}`) ? undefined : warning('This monitor cannot show the output of jobs');
	},
});
