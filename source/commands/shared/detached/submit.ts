/** Implements `run --detach` for a pool of this machine. */
import process from 'node:process';
import type {App} from '../../../app/contract.js';
import type {Command, Input} from '../../../command-line/command.js';
import type {Job} from '../../../core/model/jobs.js';
import {readCurrentJobs, submitJobs} from '../../../core/operations/jobs/jobs.js';
import {readCurrent} from '../../../core/operations/transact.js';
import {jobIdOf} from '../../../core/rules/jobs/ids.js';
import {checkNote, checkWanted, type AcquireRequest} from '../../../core/rules/request/request.js';
import {CanhazgpuError} from '../../../errors.js';
import {harmlessJson} from '../../../format/text/json.js';
import {sanitize} from '../../../format/text/text.js';
import type {LocalLater} from '../later-flags.js';
import {typedFlags} from '../hosts/on-host.js';
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

function ownDirectory(): string {
	try {
		return process.cwd();
	} catch {
		throw new CanhazgpuError('failed', 'This directory has been removed, and the job would start in it', {
			hint: 'Change to another directory, and try again.',
		});
	}
}

function printSubmitted(app: App, input: Input, jobs: readonly Job[]): void {
	const [first] = jobs;
	const {array, log} = first!;
	const id = array === undefined ? jobIdOf(first!) : String(array.id);
	const output = array === undefined ? log : log.replace(/_\d+\.log$/v, '_N.log');
	if (input.has('json')) {
		app.print(harmlessJson({job_id: id, output, jobs: jobs.map((job) => jobIdOf(job))}));
		return;
	}

	app.print(id);
	if (input.config.get('run.quiet') === true) {
		return;
	}

	app.remark(
		array === undefined
			? `canhazgpu: job ${id} is submitted. Its output: canhazgpu logs -f ${id}`
			: `canhazgpu: the ${jobs.length} jobs of array ${id} are submitted. The output of one: canhazgpu logs -f ${jobIdOf(first!)}`,
	);
	app.remark(`The file: ${sanitize(output)}`);
}

/** Submits a job or an array, starts its wrappers, and prints the id. Refuses everything that is wrong before anything is stored. */
export async function submitDetached(
	app: App,
	input: Input,
	{command, request, words, later}: Submission,
): Promise<number> {
	const directory = ownDirectory();
	const flags = typedFlags(command, input, ...submissionFlags);
	const detaching = await app.loadDetaching();
	detaching.checkDetachable(words);
	await app.prepareJob(words, {...app.environment, [ticketVariable]: undefined}, 'now');
	checkNote(request.note);
	return withWorld(app, {}, async (world) => {
		const {gpus} = await readCurrent(world);
		checkWanted(request, gpus.length);
		detaching.prepareLogs();
		// Jobs that have just been lost count as such for --after.
		await readCurrentJobs(world);
		const run = [...flags, '--', ...words];
		const jobs = await submitJobs(
			world,
			{
				account: app.requester(undefined).account,
				directory,
				words: run,
				seal: detaching.seal([run, directory]),
				command: words,
				count: request.ids?.length ?? request.count,
				...later,
			},
			detaching.logFor,
		);
		await startWrappers(app, world, jobs, {isNewLog: true});
		printSubmitted(app, input, jobs);
		return 0;
	});
}
