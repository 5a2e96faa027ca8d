import {modelOfCommand} from '../../../core/rules/processes/served-model.js';
import {
	awaitJobLease,
	findJobLease,
	endJobLease,
	instancesOfJob,
	type JobLease,
} from '../../../core/operations/job-lease.js';
import {sizeText} from '../../../core/rules/request/memory-size.js';
import type {AcquireRequest} from '../../../core/rules/request/request.js';
import {CanhazgpuError} from '../../../errors.js';
import {grantJson} from '../../../format/json/change-json.js';
import {harmlessJsonLine} from '../../../format/text/json.js';
import {setDuration} from '../../../format/text/durations.js';
import {partsText} from '../../../format/instances.js';
import {sanitize} from '../../../format/text/text.js';
import type {App, Interruption, Job, JobEnd, JobOptions, OpenWorld, PreparedCuda} from '../../../app/contract.js';
import type {Input} from '../../../command-line/command.js';
import {acquireShown} from '../acquire.js';
import type {ProcessIdentity} from '../../../core/model/types.js';
import {createBackground} from '../background.js';
import {queueEntryVariable} from '../hosts/moving.js';
import {detailsFor} from '../request-flags.js';
import {addedVariable, ticketVariable} from './ticket.js';
import {createJobIsolator, isolationWishOf, type JobIsolation} from './isolation.js';
import {gpuEnvironment} from './job-environment.js';
import {keepJobLease, type JobLeaseKeeper} from './keep-job-lease.js';
import {tellLeft, waitingText} from './left-processes.js';
import {reportEnd} from './report-end.js';
import {bindJob, isBindingWanted, notWanted, type JobBinding} from './numa.js';

async function preparedCuda(app: App, {config}: Input): Promise<PreparedCuda | undefined> {
	const version = config.get('run.cuda');
	return version === undefined ? undefined : app.prepareCuda(version);
}

async function mpsDirectoryOf(app: App, input: Input): Promise<string | undefined> {
	if (!input.has('mps')) {
		return undefined;
	}

	if (!input.has('share')) {
		throw new CanhazgpuError('usage', '--mps needs --share', {
			hint: 'Give --share, too: --share 8G --mps',
		});
	}

	const {directory, isRunning} = await app.findMpsDaemon();
	if (!isRunning) {
		throw new CanhazgpuError('failed', `This account has no MPS daemon that listens in ${directory}`, {
			hint: 'Start one: nvidia-cuda-mps-control -d. If it listens elsewhere, set CUDA_MPS_PIPE_DIRECTORY to that directory.',
		});
	}

	return directory;
}

type Granted = {
	readonly world: OpenWorld;
	readonly jobLease: JobLease;
	readonly isolation: JobIsolation;
	readonly binding: JobBinding;
};

/** Prepares the command before the wait for GPUs, so that an invalid command is refused at once. Returns the function that starts the command. */
async function prepareCommand(app: App, input: Input, words: RunRequest['words'], observer: JobObserver | undefined) {
	const timeoutSeconds = input.config.get('run.timeout');
	const mpsDirectory = await mpsDirectoryOf(app, input);
	const cuda = await preparedCuda(app, input);
	const environment = {
		...app.environment,
		...cuda?.environment,
		// The job can request GPUs itself. That request must not reuse the id of this queue entry, or the record of this job.
		[queueEntryVariable]: undefined,
		[ticketVariable]: undefined,
		[addedVariable]: undefined,
		...observer?.variables,
	};
	const startJob = await app.prepareJob(words, environment, 'later');
	if (cuda?.warning !== undefined) {
		app.remark(cuda.warning);
	}

	const [command, ...args] = words;
	return async ({world, jobLease, isolation, binding}: Granted, onChildren: JobOptions['onChildren']): Promise<Job> =>
		startJob({
			command,
			args,
			entrance: [...isolation.entrance, ...binding.entrance],
			environment: {
				...environment,
				...gpuEnvironment({
					gpus: jobLease.gpus,
					provider: world.gpus.name,
					isolatedUuids: isolation.uuids,
					instances: instancesOfJob(jobLease),
					shareMiB: jobLease.leases.values().next().value?.lease.memoryMiB,
					mpsDirectory,
				}),
			},
			timeoutSeconds,
			waitsForChildren: input.has('wait-children'),
			endsAllOnSignal: observer !== undefined,
			onChildren,
			onTimeout() {
				app.remark(`canhazgpu: the time limit of ${setDuration(timeoutSeconds ?? 0)} has passed: stopping the command`);
			},
		});
}

/** Releases GPUs that no command will use. If the release fails, the next command that reads the pool releases the GPUs. */
async function giveBackUnused(world: OpenWorld, jobLease: JobLease): Promise<void> {
	try {
		await endJobLease(world, jobLease, 'released');
	} catch (error) {
		if (!(error instanceof CanhazgpuError)) {
			throw error;
		}
	}
}

type GrantedLeaseOptions = {readonly waitSeconds: number | undefined; readonly signal: AbortSignal};

const grantedLease = async (
	app: App,
	world: OpenWorld,
	leaseId: string,
	{waitSeconds, signal}: GrantedLeaseOptions,
): ReturnType<typeof awaitJobLease> =>
	waitSeconds === 0
		? findJobLease(world, leaseId)
		: awaitJobLease(world, leaseId, {
				signal,
				away(reason) {
					app.remark(
						`canhazgpu: the GPUs are granted, but the command cannot start until the store answers: ${sanitize(reason)}`,
					);
				},
			});

const isQuiet = ({has, config}: Input): boolean => !has('json') && config.get('run.quiet') === true;

function remarkAll(app: App, remarks: ReadonlyArray<string | undefined>): void {
	for (const remark of remarks) {
		if (remark !== undefined) {
			app.progress(remark);
		}
	}
}

type GrantedText = {
	readonly timeoutSeconds: number | undefined;
	readonly shareMiB: number | undefined;
	readonly isLimited: boolean;
};

function grantedText(jobLease: JobLease, {timeoutSeconds, shareMiB, isLimited}: GrantedText): string {
	const fence = isLimited ? 'limit enforced by MPS' : 'limit not enforced';
	const details = [
		...(shareMiB === undefined ? [] : [`a share of ${sizeText(shareMiB)}, ${fence}`]),
		...(timeoutSeconds === undefined ? [] : [`timeout: ${setDuration(timeoutSeconds)}`]),
	];
	const words = details.length === 0 ? '' : ` (${details.join(', ')})`;
	return `Reserved ${partsText(jobLease.gpus, instancesOfJob(jobLease))} for command execution${words}`;
}

export type RunRequest = {
	readonly request: AcquireRequest;
	readonly words: readonly [command: string, ...args: readonly string[]];
	readonly waitSeconds: number | undefined;
	/** The id of the lease. To repeat a request whose answer may be lost, give the same id again. Default: a new id. */
	readonly leaseId?: string;
	/** The id of the queue entry. To repeat a request that may still be in the queue, give the same id again. Default: a new id. */
	readonly entryId?: string;
};

/** Callbacks of a detached job, which keeps a record of its command. */
export type JobObserver = {
	/** The signals to this process, including those that arrive before `runHere` handles signals itself. */
	readonly interruption: Pick<Interruption, 'signal' | 'exitCode'>;
	/** Additional variables of the command. A variable with the value undefined is removed. */
	readonly variables: Readonly<Record<string, string | undefined>>;
	/** Called when the request for GPUs has joined the queue. */
	readonly waiting: () => void;
	/** Called before the command starts. If it resolves with false, the command does not start, and the GPUs are released. */
	readonly granted: (lease: JobLease, signal: AbortSignal) => Promise<boolean>;
	/** Called when the command has started. With `--wait-children`, called again for each child that keeps the GPUs after the command. */
	readonly running: (process: ProcessIdentity) => void;
	/** Called when the command has ended. Returns false if the command will run again. */
	readonly ended: (end: Pick<JobEnd, 'exitCode' | 'reason' | 'isStopped'>) => boolean;
};

/** Runs a command with GPUs of this host. Returns the exit code of the command, or of a signal that arrived before the command started. */
export async function runHere(
	app: App,
	input: Input,
	{request, words, waitSeconds, leaseId, entryId}: RunRequest,
	observer?: JobObserver,
): Promise<number> {
	const wish = isolationWishOf(input);
	const isBinding = isBindingWanted(input);
	const startCommand = await prepareCommand(app, input, words, observer);
	const opened = await app.open({willScan: true, details: detailsFor(request.need), keepReconnecting: true});
	const interruption = app.interruption();
	const background = createBackground(app.remark);
	app.outliveBugs(background.failed);
	const started = Promise.withResolvers<void>();
	const {
		world,
		lastScan,
		check,
		begin,
		isolate,
		close: closeIsolation,
	} = createJobIsolator(opened, {
		wish,
		setting: input.config.get('run.isolate'),
	});
	try {
		if (observer?.interruption.signal.aborted === true) {
			return observer.interruption.exitCode();
		}

		await check();
		const answer = await acquireShown(app, world, request, {
			waitSeconds,
			interruption,
			leaseId,
			entryId,
			isSilent: input.has('json'),
			started: started.promise,
			waiting: observer?.waiting,
		});
		if (answer.kind === 'interrupted') {
			return answer.exitCode;
		}

		await begin(answer);
		const jobLease = await grantedLease(app, world, answer.leaseId, {waitSeconds, signal: interruption.signal});
		if (jobLease === undefined) {
			// The next command that reads the pool finds that this process has ended, and releases the GPUs.
			return interruption.exitCode();
		}

		if (interruption.signal.aborted) {
			await giveBackUnused(world, jobLease);
			return interruption.exitCode();
		}

		try {
			const [isolation, binding] = await Promise.all([
				isolate({gpus: jobLease.gpus, instances: instancesOfJob(jobLease)}, jobLease.poolIsolation),
				isBinding ? bindJob(world, jobLease.gpus, lastScan()) : notWanted,
			]);
			if (interruption.signal.aborted) {
				await giveBackUnused(world, jobLease);
				return interruption.exitCode();
			}

			const granted = input.has('json')
				? harmlessJsonLine({
						...grantJson(answer, request),
						isolated: isolation.isIsolated,
						numa_nodes: binding.nodes,
					})
				: grantedText(jobLease, {
						timeoutSeconds: input.config.get('run.timeout'),
						shareMiB: request.need?.shareMiB,
						isLimited: input.has('mps'),
					});
			// Printed on stderr, because stdout belongs to the command. So a log of stderr shows which GPUs the command used.
			remarkAll(app, [isQuiet(input) ? undefined : granted, isolation.remark, binding.remark]);

			const mayStart = (await observer?.granted(jobLease, interruption.signal)) ?? true;
			if (!mayStart || interruption.signal.aborted) {
				await giveBackUnused(world, jobLease);
				return interruption.exitCode();
			}

			const startedMs = app.clock.monotonicMs();
			const keeping = Promise.withResolvers<JobLeaseKeeper>();
			let isWaiting = false;
			const job = await startCommand({world, jobLease, isolation, binding}, (children) => {
				if (!isWaiting) {
					app.remark(waitingText(children));
					isWaiting = true;
				}

				void background.attempt(async () => {
					(await keeping.promise).follow(children);
					observer?.running(children[0]!);
				});
			});
			// The job handles signals from now on.
			interruption.end();
			started.resolve();
			const keeper = keepJobLease(app, world, {
				granted: jobLease,
				job: job.process,
				model: modelOfCommand(words.join(' '))?.model,
			});
			keeping.resolve(keeper);
			observer?.running(job.process);
			const end = await job.ended;
			const {exitCode, reason, isStopped, left} = end;
			const seconds = (app.clock.monotonicMs() - startedMs) / 1000;
			const isOver = observer?.ended({exitCode, reason, isStopped}) ?? true;
			await Promise.all([
				keeper.end(reason, left),
				isOver &&
					background.attempt(async () =>
						reportEnd(app, {request, jobLease, end, seconds, isAsked: input.has('notify')}),
					),
				background.attempt(async () => tellLeft(app, world, jobLease.gpus, left)),
				closeIsolation(),
			]);
			job.letGo();
			return exitCode;
		} catch (error) {
			await giveBackUnused(world, jobLease);
			// If a signal ended a helper process, the error that follows is not reported.
			if (interruption.signal.aborted) {
				return interruption.exitCode();
			}

			throw error;
		}
	} finally {
		interruption.end();
		await closeIsolation();
		// If closing fails, the error is only reported, because the exit code of the job matters more.
		await background.attempt(async () => opened.close());
	}
}
