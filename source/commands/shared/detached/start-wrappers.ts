import type {App} from '../../../app/contract.js';
import type {Job} from '../../../core/model/jobs.js';
import type {World} from '../../../core/model/ports.js';
import {changeJob} from '../../../core/operations/jobs/jobs.js';
import {ended} from '../../../core/rules/jobs/changes.js';
import {jobIdOf} from '../../../core/rules/jobs/ids.js';
import {soundJobs} from '../../../core/rules/jobs/look.js';
import {isOver} from '../../../core/rules/jobs/start.js';
import {CanhazgpuError} from '../../../errors.js';
import {ticketText, ticketVariable} from '../job/ticket.js';

/** How many wrappers start at a time. Each needs a processor for a moment. */
const atATime = 8;

const lookMs = 50;

/** Time in ms to wait until a wrapper has taken over its job. A wrapper that needs longer still starts its job. */
const patienceMs = 30_000;

type StartOptions = {
	readonly isNewLog: boolean;
};

type Detaching = Awaited<ReturnType<App['loadDetaching']>>;

/** Starts the wrapper of a job, and waits until it has taken over the job. Returns false if the wrapper ends before that. */
async function startOne(
	app: App,
	world: World,
	job: Job,
	{detaching, inSystemd, isNewLog}: StartOptions & {readonly detaching: Detaching; readonly inSystemd: boolean},
): Promise<boolean> {
	const wrapper = await detaching.start({
		id: jobIdOf(job),
		words: ['run', ...job.words],
		environment: {...app.environment, [ticketVariable]: ticketText(job)},
		directory: job.directory,
		log: job.log,
		isNewLog,
		inSystemd,
	});
	let hasEnded = false;
	void (async () => {
		await wrapper.ended;
		hasEnded = true;
	})();

	const untilMs = app.clock.monotonicMs() + patienceMs;
	while (app.clock.monotonicMs() < untilMs) {
		// Read before the record, because a wrapper can take over its job and end between the two reads.
		const isLast = hasEnded;
		const [found] = soundJobs(await world.store.readJobs([job.number]));
		const isUntouched = found?.token === job.token && !found.isHeld && !isOver(found);
		if (!isUntouched) {
			break;
		}

		if (isLast) {
			return false;
		}

		await app.clock.sleep(lookMs);
	}

	wrapper.letGo();
	return true;
}

const notStarted = 'it could not be started: see its log';

/** Starts the wrappers of jobs. A job whose wrapper cannot be started fails, and so does this command. */
export async function startWrappers(
	app: App,
	world: World,
	jobs: readonly Job[],
	options: StartOptions,
): Promise<void> {
	const detaching = await app.loadDetaching();
	const {hasLinger, killsProcesses} = await detaching.readLogoutSurvival();
	if (!hasLinger && killsProcesses === true) {
		app.remark(
			'Warning: the job ends when you log out, because systemd-logind on this machine kills all processes of a session. To prevent this: loginctl enable-linger',
		);
	}

	const problems: CanhazgpuError[] = [];
	const start = async (job: Job): Promise<void> => {
		let reason = notStarted;
		try {
			const isStarted =
				(hasLinger && (await startOne(app, world, job, {...options, detaching, inSystemd: true}))) ||
				(await startOne(app, world, job, {
					detaching,
					inSystemd: false,
					isNewLog: options.isNewLog && !hasLinger,
				}));
			if (isStarted) {
				return;
			}

			problems.push(
				new CanhazgpuError('failed', `Job ${jobIdOf(job)} could not be started`, {
					hint: `See why: canhazgpu logs ${jobIdOf(job)}`,
				}),
			);
		} catch (error) {
			if (!(error instanceof CanhazgpuError)) {
				throw error;
			}

			problems.push(error);
			reason = error.message;
		}

		await changeJob(world, job.number, (found, now) =>
			found.token === job.token && !found.isHeld && !isOver(found) ? ended(found, {reason}, now) : undefined,
		);
	};

	const left = [...jobs];
	await Promise.all(
		Array.from({length: atATime}, async () => {
			for (let job = left.shift(); job !== undefined; job = left.shift()) {
				await start(job);
			}
		}),
	);
	const [problem] = problems;
	if (problem !== undefined) {
		throw problem;
	}
}
