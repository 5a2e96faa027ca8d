import {cancelJobs, readCurrentJobs} from '../../core/operations/jobs/jobs.js';
import {soundJobs} from '../../core/rules/jobs/look.js';
import {jobIdOf} from '../../core/rules/jobs/ids.js';
import {isOver} from '../../core/rules/jobs/start.js';
import {CanhazgpuError} from '../../errors.js';
import type {App, OpenWorld} from '../../app/contract.js';
import type {Command} from '../../command-line/command.js';
import type {Job} from '../../core/model/jobs.js';
import {onFlag, runOnNamedHost} from '../shared/hosts/on-flag.js';
import {withWorld} from '../shared/with-world.js';
import {jobIdsOf} from './job-words.js';

const lookMs = 100;

/** How long to wait for the end of a running job: the 30 seconds that its wrapper leaves it, and those of a busy machine. */
const patienceMs = 45_000;

/** Asks the wrapper to end, which ends the command. If the wrapper was killed, asks the command itself. */
function signal(app: App, {holder, job}: Job): void {
	const answer = holder === undefined ? 'gone' : app.sendSignal(holder, 'SIGTERM');
	if (answer === 'gone' && job !== undefined) {
		app.sendSignal(job, 'SIGTERM');
	}
}

/** Waits until these jobs have ended. Returns those that are not, after a while. */
async function awaitEnds(app: App, world: OpenWorld, numbers: readonly number[]): Promise<readonly Job[]> {
	const untilMs = app.clock.monotonicMs() + patienceMs;
	for (;;) {
		const left = soundJobs(await readCurrentJobs(world, numbers)).filter((job) => !isOver(job));
		if (left.length === 0 || app.clock.monotonicMs() > untilMs) {
			return left;
		}

		await app.clock.sleep(lookMs);
	}
}

const alreadyEnded = (ids: readonly string[]): string =>
	ids.length === 1 ? `Job ${ids[0]} has already ended` : 'These jobs have already ended';

const cancelledText = (ids: readonly string[]): string =>
	`Cancelled ${ids.length === 1 ? 'job' : 'jobs'} ${ids.join(', ')}`;

export const cancel: Command = {
	name: 'cancel',
	summary: 'Cancel jobs that run --detach has submitted',
	usage: 'ID...',
	examples: [
		['canhazgpu cancel 7', 'job 7, or every job of array 7'],
		['canhazgpu cancel 7_3 8', 'index 3 of array 7, and job 8'],
	],
	flags: {on: onFlag},
	notes: ['A running command gets SIGTERM, with all processes that it has started, and after 30 seconds SIGKILL.'],
	takesWords: true,
	words: 'jobs',
	async run(app, input) {
		const ids = jobIdsOf(input, 'cancel');
		const exitCode = await runOnNamedHost(app, input, cancel);
		if (exitCode !== undefined) {
			return exitCode;
		}

		return withWorld(app, {}, async (world) => {
			if (world.engine !== undefined) {
				const cancelled = await world.engine.jobs.cancel(app.requester(undefined), ids);
				app.print(cancelled.length === 0 ? alreadyEnded(ids) : cancelledText(cancelled));
				return 0;
			}

			const changed = await cancelJobs(world, app.requester(undefined), ids);
			if (changed.length === 0) {
				app.print(alreadyEnded(ids));
				return 0;
			}

			for (const {before} of changed) {
				// A wrapper that cannot be signalled, as in a container, notices the cancellation in the store.
				if (before.isHeld) {
					signal(app, before);
				}
			}

			const running = changed.map(({before}) => before).filter(({state, isHeld}) => isHeld && state === 'running');
			const left = await awaitEnds(
				app,
				world,
				running.map(({number}) => number),
			);
			const done = changed
				.map(({before}) => before)
				.filter(({number}) => left.every((job) => job.number !== number))
				.map((job) => jobIdOf(job));
			if (done.length > 0) {
				app.print(cancelledText(done));
			}

			const [stuck] = left;
			if (stuck !== undefined) {
				const id = jobIdOf(stuck);
				throw new CanhazgpuError('failed', `Job ${id} was asked to end, but still runs`, {
					hint: `See what it does: canhazgpu logs ${id}. Its process has the pid ${stuck.job?.pid ?? stuck.holder?.pid}.`,
				});
			}

			return 0;
		});
	},
};
