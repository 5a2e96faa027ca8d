/** Submits jobs to a pool of this machine: `run --detach`, and the tool `gpu_run`. */
import {statSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type {App} from '../../../app/contract.js';
import type {Command, Input} from '../../../command-line/command.js';
import {namedFile} from '../../../config/config.js';
import type {Job} from '../../../core/model/jobs.js';
import type {World} from '../../../core/model/ports.js';
import {readCurrentJobs, submitJobs} from '../../../core/operations/jobs/jobs.js';
import {requirePossibleLater} from '../../../core/operations/require-possible.js';
import {jobIdOf} from '../../../core/rules/jobs/ids.js';
import {checkNote, type AcquireRequest} from '../../../core/rules/request/request.js';
import {CanhazgpuError, quoted} from '../../../errors.js';
import {detachedJson, interruptedText} from '../../../format/jobs.js';
import {harmlessJson} from '../../../format/text/json.js';
import {sanitize} from '../../../format/text/text.js';
import type {LocalLater} from '../later-flags.js';
import {typedFlags} from '../hosts/on-host.js';
import {detailsFor} from '../request-flags.js';
import {withWorld} from '../with-world.js';
import {ticketVariable} from '../job/ticket.js';
import {startWrappers} from './start-wrappers.js';

type Submission = {
	readonly command: Command;
	readonly request: AcquireRequest;
	readonly words: readonly [command: string, ...args: readonly string[]];
	readonly later: LocalLater;
};

/** Flags that say when and how the job is submitted. All others are for its wrapper. */
const submissionFlags = ['detach', 'after', 'begin', 'array', 'retry', 'json', 'quiet'];

export function ownDirectory(): string {
	try {
		return process.cwd();
	} catch {
		throw new CanhazgpuError('failed', 'The current directory has been removed, so the job cannot start in it', {
			hint: 'Change to another directory, and try again.',
		});
	}
}

function printSubmitted(app: App, input: Input, jobs: readonly Job[]): void {
	const [first] = jobs;
	const {array} = first!;
	const {job_id: id, output} = detachedJson(jobs);
	if (input.has('json')) {
		app.print(harmlessJson(detachedJson(jobs)));
		return;
	}

	app.print(id);
	if (input.config.get('run.quiet') === true) {
		return;
	}

	app.remark(
		array === undefined
			? `canhazgpu: job ${id} is submitted. Its output: canhazgpu logs -f ${id}`
			: `canhazgpu: the ${jobs.length} jobs of array ${id} are submitted. To see the output of one: canhazgpu logs -f ${jobIdOf(first!)}`,
	);
	app.remark(`Output file: ${sanitize(output)}`);
}

export type LocalSubmission = Omit<Submission, 'command'> & {
	readonly directory: string;
	readonly flags: readonly string[];
};

/** Throws `usage` if no record can hold the command. Throws an error of exit code 126 or 127 if the command cannot be started in the directory. */
export async function checkDetachedCommand(
	app: App,
	{words, directory}: Pick<LocalSubmission, 'words' | 'directory'>,
	environment: App['environment'],
): Promise<void> {
	const detaching = await app.loadDetaching();
	detaching.checkDetachable(words);
	const [command, ...args] = words;
	const isElsewhere = command.includes('/') && directory !== ownDirectory();
	const file = isElsewhere ? path.resolve(directory, command) : command;
	await app.prepareJob([file, ...args], {...environment, [ticketVariable]: undefined}, 'now');
}

/** Stores a job or an array. Checks everything before anything is stored. */
async function storeJobs(
	app: App,
	world: World,
	{request, words, later, directory, flags}: LocalSubmission,
): Promise<readonly Job[]> {
	checkNote(request.note);
	const detaching = await app.loadDetaching();
	const {
		wanted: {count, need},
	} = await requirePossibleLater(world, request);
	detaching.prepareLogs();
	// Marks lost jobs as failed first, because --after depends on how jobs have ended.
	await readCurrentJobs(world);
	const run = [...flags, '--', ...words];
	return submitJobs(
		world,
		{
			account: request.requester.account,
			directory,
			words: run,
			via: request.via,
			command: words,
			count,
			need,
			...later,
		},
		{logOf: detaching.logFor, sealOf: detaching.seal},
	);
}

/** Submits a job or an array, and starts its wrappers. */
export async function submitLocally(app: App, world: World, submission: LocalSubmission): Promise<readonly Job[]> {
	const jobs = await storeJobs(app, world, submission);
	const {failure} = await startWrappers(app, world, jobs, {isNewLog: true});
	if (failure !== undefined) {
		throw failure;
	}

	return jobs;
}

/** Refuses a config file that is a pipe, because the background process of the job reads the config again. */
function refusePipedConfig(file: string | undefined): void {
	const status = file === undefined ? undefined : statSync(file);
	if (status?.isFIFO() === true || status?.isSocket() === true) {
		throw new CanhazgpuError(
			'usage',
			`A detached job cannot use the config ${quoted(file!)}: it can be read only once`,
			{
				hint: 'Write the settings to a file, and name that. Nothing was started.',
			},
		);
	}
}

export async function submitDetached(
	app: App,
	input: Input,
	{command, request, words, later}: Submission,
): Promise<number> {
	const directory = ownDirectory();
	refusePipedConfig(namedFile(input.text('config'), app.environment));
	const flags = typedFlags(command, input, ...submissionFlags);
	await checkDetachedCommand(app, {words, directory}, app.environment);
	return withWorld(app, {keepReconnecting: true, details: detailsFor(request.need)}, async (world) => {
		// A signal must not end this process between the store of the jobs and the start of their wrappers.
		const interruption = app.interruption();
		try {
			const {signal} = interruption;
			const jobs = await storeJobs(app, world, {request, words, later, directory, flags});
			const {interrupted, failure} = await startWrappers(app, world, jobs, {isNewLog: true, signal});
			if (failure !== undefined && jobs.length === 1) {
				throw failure;
			}

			printSubmitted(app, input, jobs);
			if (interrupted > 0) {
				app.remark(interruptedText(interrupted, jobs.length));
			}

			if (failure !== undefined) {
				throw failure;
			}

			return signal.aborted ? interruption.exitCode() : 0;
		} finally {
			interruption.end();
		}
	});
}
