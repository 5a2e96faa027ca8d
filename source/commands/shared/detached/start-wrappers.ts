import type {App} from '../../../app/contract.js';
import type {Job} from '../../../core/model/jobs.js';
import type {World} from '../../../core/model/ports.js';
import {changeJob, changeJobs} from '../../../core/operations/jobs/jobs.js';
import {calledOff, ended, planJobChanges} from '../../../core/rules/jobs/changes.js';
import {jobIdOf} from '../../../core/rules/jobs/ids.js';
import {soundJobs, soundRecords} from '../../../core/rules/jobs/look.js';
import {isOver} from '../../../core/rules/jobs/start.js';
import {CanhazgpuError, isTransient} from '../../../errors.js';
import {ticketText, ticketVariable} from '../job/ticket.js';

/** How many wrappers start at a time. Each needs a processor for a moment. */
const atATime = 8;

const lookMs = 50;

/** Time in ms to wait until a wrapper has taken over its job. A wrapper that needs longer still starts its job. */
const patienceMs = 30_000;

type StartOptions = {
	readonly isNewLog: boolean;
	/** After an abort, no more wrappers are started, and those that have been started are left alone. */
	readonly signal?: AbortSignal | undefined;
};

type Detaching = Awaited<ReturnType<App['loadDetaching']>>;

/** Calls `work`, and returns undefined while the store cannot be used. */
async function unlessTransient<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
	try {
		return await work();
	} catch (error) {
		if (!isTransient(error)) {
			throw error;
		}

		return undefined;
	}
}

const isUntouched = (found: Job, {token}: Job): boolean => found.token === token && !found.isHeld && !isOver(found);

/** Starts the wrapper of a job, and waits until it has taken over the job. Returns false if the wrapper ends before that. */
async function startOne(
	app: App,
	world: World,
	job: Job,
	{detaching, inSystemd, isNewLog, signal}: StartOptions & {readonly detaching: Detaching; readonly inSystemd: boolean},
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
	while (app.clock.monotonicMs() < untilMs && signal?.aborted !== true) {
		// Read before the record, because a wrapper can take over its job and end between the two reads.
		const isLast = hasEnded;
		const list = await unlessTransient(async () => world.store.readJobs([job.number]));
		if (list !== undefined) {
			const [found] = soundJobs(list);
			if (found === undefined || !isUntouched(found, job)) {
				break;
			}

			if (isLast) {
				return false;
			}
		}

		await app.clock.sleep(lookMs, signal).catch(() => undefined);
	}

	wrapper.letGo();
	return true;
}

const notStarted = 'it could not be started: see its log';

/** Cancels jobs that have no wrapper. If the store cannot be used, they are counted as lost after a minute. */
async function callOff(world: World, jobs: readonly Job[]): Promise<void> {
	await unlessTransient(async () =>
		changeJobs(world, {
			numbers: jobs.map(({number}) => number),
			plan(list) {
				const changes = soundRecords(list)
					.filter(({job: found}) => jobs.some((job) => job.number === found.number && isUntouched(found, job)))
					.map((record) => ({record, job: calledOff(record.job, 'its submission was interrupted', list.now)}));
				return {plan: planJobChanges(changes, {now: list.now, host: world.host.hostname}), result: undefined};
			},
		}),
	);
}

export type WrappersStarted = {
	/** How many jobs were cancelled after an abort, because they had no wrapper yet. */
	readonly interrupted: number;
	/** Why jobs have failed, because their wrappers could not be started. Absent if there are none. */
	readonly failure?: CanhazgpuError;
};

function failureOf(problems: readonly CanhazgpuError[], count: number): CanhazgpuError | undefined {
	const [first] = problems;
	if (first === undefined || count === 1) {
		return first;
	}

	return new CanhazgpuError(
		'failed',
		`${first.message}. In all, ${problems.length} of ${count} jobs could not be started`,
		{hint: first.hint, cause: first},
	);
}

/** Starts the wrappers of jobs. A job whose wrapper cannot be started fails. After an abort, cancels the jobs that have no wrapper yet. */
export async function startWrappers(
	app: App,
	world: World,
	jobs: readonly Job[],
	options: StartOptions,
): Promise<WrappersStarted> {
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
					signal: options.signal,
				}));
			if (isStarted) {
				return;
			}

			problems.push(
				new CanhazgpuError('failed', `Job ${jobIdOf(job)} could not be started`, {
					hint: `See why: canhazgpu logs ${jobIdOf(job)}`,
					agentHint: `See why: gpu_logs with job_id "${jobIdOf(job)}"`,
				}),
			);
		} catch (error) {
			if (!(error instanceof CanhazgpuError)) {
				throw error;
			}

			problems.push(error);
			reason = error.message;
		}

		await unlessTransient(async () =>
			changeJob(world, job.number, (found, now) => (isUntouched(found, job) ? ended(found, {reason}, now) : undefined)),
		);
	};

	const left = [...jobs];
	await Promise.all(
		Array.from({length: atATime}, async () => {
			while (left.length > 0 && options.signal?.aborted !== true) {
				await start(left.shift()!);
			}
		}),
	);
	if (left.length > 0) {
		await callOff(world, left);
	}

	return {interrupted: left.length, failure: failureOf(problems, jobs.length)};
}
