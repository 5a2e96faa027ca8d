import process from 'node:process';
import {isatty} from 'node:tty';
import type {App, Job} from '../../app/contract.js';
import type {Input} from '../../command-line/command.js';
import type {Engine, Submission, Submitted} from '../../core/operations/engine.js';
import type {AcquireRequest, Grant} from '../../core/rules/request/request.js';
import {CanhazgpuError} from '../../errors.js';
import {grantJson} from '../../format/json/change-json.js';
import {placeText} from '../../format/engine/engine-text.js';
import {harmlessJson, harmlessJsonLine} from '../../format/text/json.js';
import {setDuration} from '../../format/text/durations.js';
import {isBindingWanted} from './job/numa.js';
import {createBackground} from './background.js';
import {laterOf} from './later-flags.js';

const own = {
	cuda: 'it finds installations on this machine, but the command runs on another',
	mps: 'the MPS daemon of this machine does not serve the nodes',
	'wait-children': 'Slurm ends all processes of a job together with the job',
	retry: 'Slurm requeues a job on request: canhazgpu retry ID',
	numa: 'Slurm binds jobs to processors itself: see TaskPlugin in slurm.conf',
	notify: 'Slurm sends mail itself: see --mail-type of sbatch',
	isolate: 'Slurm isolates jobs itself: see ConstrainDevices in cgroup.conf',
} as const;

/** Throws `usage` for flags or settings that only the local engine supports. */
function checkFlags(input: Input): void {
	const wanted = {
		cuda: input.config.get('run.cuda') !== undefined,
		mps: input.has('mps'),
		'wait-children': input.has('wait-children'),
		retry: input.has('retry'),
		numa: isBindingWanted(input),
		notify: input.has('notify'),
		isolate: input.has('isolate') || input.config.isGiven('run.isolate'),
	};
	for (const [flag, why] of Object.entries(own)) {
		if (wanted[flag as keyof typeof own]) {
			throw new CanhazgpuError('usage', `--${flag} cannot be used with Slurm: ${why}`, {hint: 'Leave it out.'});
		}
	}
}

const grantedText = ({gpus, place, leaseId}: Grant, {tenure}: AcquireRequest): string => {
	const limit =
		tenure.type === 'run' && tenure.timeLimitSeconds !== undefined
			? `, timeout: ${setDuration(tenure.timeLimitSeconds)}`
			: '';
	return `Reserved ${gpus.length} GPU(s): [${gpus.join(' ')}] for command execution (${placeText(place)}Slurm job ${leaseId}${limit})`;
};

async function startedJob(
	app: App,
	{words, environment, begin}: Submitted,
	failed: (error: unknown) => void,
): Promise<Job> {
	try {
		const startJob = await app.prepareJob(words, environment, 'now');
		app.outliveBugs(failed);
		const [command, ...args] = words;
		return await startJob({command, args, environment, leavesOutput: true});
	} catch (error) {
		begin();
		throw error;
	}
}

type EngineRun = {
	readonly request: AcquireRequest;
	readonly words: readonly [command: string, ...args: readonly string[]];
	readonly waitSeconds: number | undefined;
};

function ownDirectory(): string {
	try {
		return process.cwd();
	} catch {
		throw new CanhazgpuError(
			'failed',
			'The current directory has been removed, so the output of the job cannot go there',
			{
				hint: 'Change to another directory, and try again.',
			},
		);
	}
}

async function runDetached(app: App, engine: Engine, input: Input, submission: Submission): Promise<number> {
	const {checkDetachable} = await app.loadDetaching();
	checkDetachable(submission.words);
	const {jobId, output} = await engine.submitDetached(submission, ownDirectory());
	app.print(
		input.has('json')
			? harmlessJson({job_id: jobId, lease_id: jobId, output})
			: submission.isQuiet
				? jobId
				: `Submitted Slurm job ${jobId}. Its output goes to ${output}. To see it: canhazgpu jobs, canhazgpu logs ${jobId}. To end it: canhazgpu cancel ${jobId}`,
	);
	return 0;
}

export async function runOnEngine(
	app: App,
	engine: Engine,
	input: Input,
	{request, words, waitSeconds}: EngineRun,
): Promise<number> {
	checkFlags(input);
	const isQuiet = !input.has('json') && input.config.get('run.quiet') === true;
	const submission: Submission = {
		request,
		words,
		waitSeconds,
		later: laterOf(input),
		isHeld: input.has('json'),
		isQuiet,
		// A terminal on the node would mix redirected stderr into stdout.
		hasTerminal: app.isTerminal && isatty(2),
		environment: app.environment,
	};
	if (input.has('detach')) {
		return runDetached(app, engine, input, submission);
	}

	const submitted = await engine.submit(submission);
	const background = createBackground(app.remark);
	// Listens before the start, so that a signal during the start is not missed.
	const interruption = app.interruption();
	const job = await startedJob(app, submitted, background.failed);
	const ended = new AbortController();
	const announceGrant = async (): Promise<void> => {
		const grant = await submitted.granted(job.process.pid, ended.signal);
		if (grant === undefined) {
			return;
		}

		if (input.has('json')) {
			app.remark(harmlessJsonLine(grantJson(grant, request)));
		} else {
			app.remark(grantedText(grant, request));
		}
	};

	const announcing = background.attempt(async () => {
		try {
			await announceGrant();
		} finally {
			submitted.begin();
		}
	});
	const {exitCode} = await job.ended;
	ended.abort();
	await announcing;
	try {
		return await submitted.exitCodeOf(exitCode, interruption.signal.aborted ? interruption.exitCode() : undefined);
	} finally {
		interruption.end();
		job.letGo();
	}
}
