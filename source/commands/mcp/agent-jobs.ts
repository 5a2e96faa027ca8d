/** Implements the tools for jobs with the functions behind `run --detach`, `jobs`, `logs` and `cancel`. */
import {Buffer} from 'node:buffer';
import {accessSync, constants} from 'node:fs';
import path from 'node:path';
import type {App} from '../../app/contract.js';
import type {EngineWorld} from '../../core/operations/engine.js';
import {jobIdOf} from '../../core/rules/jobs/ids.js';
import {CanhazgpuError, codeOf, cutShort, messageOf, quoted} from '../../errors.js';
import {detachedJson} from '../../format/jobs.js';
import type {AgentJobs, JobOfAgent, SubmittedJob} from '../../mcp/agent-jobs.js';
import {cancelAndWait, stuckError} from '../jobs/cancel-and-wait.js';
import {findOwnJobs, listJobs} from '../jobs/list-jobs.js';
import {findOutput} from '../jobs/logs.js';
import {checkDetachedCommand, ownDirectory, submitLocally} from '../shared/detached/submit.js';
import {isOwnVariable} from '../shared/job/job-environment.js';
import {addedText, addedVariable} from '../shared/job/ticket.js';

/** Maximum size of all additional variables in bytes. The wrapper gets them in one variable, and Linux limits that to 128 KiB. */
const mostVariableBytes = 65_536;

const problems: ReadonlyMap<string | undefined, string> = new Map([
	['ENOENT', 'does not exist'],
	['ENOTDIR', 'is not a directory'],
	['EACCES', 'cannot be entered by this account'],
	['ENAMETOOLONG', 'is too long'],
]);

function directoryOf(typed: string | undefined): string {
	if (typed === undefined) {
		return ownDirectory();
	}

	const directory = path.resolve(ownDirectory(), typed);
	try {
		// With the slash at the end, this fails for a file.
		accessSync(`${directory}/`, constants.X_OK);
		return directory;
	} catch (error) {
		throw new CanhazgpuError(
			'usage',
			`cwd: ${quoted(directory)} ${problems.get(codeOf(error)) ?? `cannot be used: ${messageOf(error)}`}`,
			{hint: 'Name a directory on this machine. Nothing was started.', cause: error},
		);
	}
}

function checkVariables(variables: JobOfAgent['variables']): void {
	const own = Object.keys(variables).find((name) => isOwnVariable(name));
	if (own !== undefined) {
		throw new CanhazgpuError('usage', `env: ${cutShort(own)} is set by canhazgpu`, {
			hint: own.endsWith('_DEVICES') ? 'Leave it out. It will name the GPUs that the command gets.' : 'Leave it out.',
		});
	}

	if (Buffer.byteLength(addedText(variables)) > mostVariableBytes) {
		throw new CanhazgpuError('usage', `env: the variables have more than ${mostVariableBytes} bytes`, {
			hint: 'Write them into a file that the command reads.',
		});
	}
}

/** Returns the flags of `run` for the GPUs that the agent requests. */
function flagsOf({wanted, request, timeout}: JobOfAgent): readonly string[] {
	const {gpu_ids: ids, models, min_memory: minMemory, min_compute: minCompute, nvlink, mixed, share, mig} = wanted;
	const {requester, note} = request;
	const values = {
		...(ids === undefined ? {gpus: String(request.count)} : {'gpu-ids': ids.join(',')}),
		'min-memory': minMemory,
		model: models?.join(','),
		'min-compute': minCompute,
		nvlink: nvlink === true ? 'true' : undefined,
		mixed: mixed === true ? 'true' : undefined,
		share,
		mig,
		timeout,
		note,
		user: requester.label === requester.account ? undefined : requester.label,
	};
	return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
}

async function submit(
	app: App,
	world: EngineWorld,
	job: JobOfAgent,
	poolFlags: readonly string[],
): Promise<Omit<SubmittedJob, 'remarks'>> {
	const {request, command: words, variables} = job;
	const directory = directoryOf(job.directory);
	checkVariables(variables);
	const flags = [...poolFlags, ...flagsOf(job)];
	if ([...flags, ...words, directory, ...Object.values(variables)].some((text) => text.includes('\0'))) {
		throw new CanhazgpuError(
			'usage',
			'gpu_run: a value contains a NUL character, which cannot be passed to a program',
			{
				hint: 'Leave the character out. Nothing was started.',
			},
		);
	}

	const environment = {...app.environment, ...variables};
	if (world.engine !== undefined) {
		const {jobId, output} = await world.engine.submitDetached(
			{
				request,
				words,
				waitSeconds: undefined,
				later: {},
				isHeld: false,
				isQuiet: true,
				hasTerminal: false,
				environment,
			},
			directory,
		);
		return {id: jobId, json: {job_id: jobId, lease_id: jobId, output}};
	}

	await checkDetachedCommand(app, {words, directory}, environment);
	const appOfWrapper = {...app, environment: {...app.environment, [addedVariable]: addedText(variables)}};
	const jobs = await submitLocally(appOfWrapper, world, {
		request,
		words,
		later: {after: [], begin: undefined, retries: 0, array: undefined},
		directory,
		flags,
	});
	return {id: jobIdOf(jobs[0]!), json: detachedJson(jobs)};
}

/** @param poolFlags - The flags with which the job's wrapper finds the pool. */
export const createAgentJobs = (app: App, poolFlags: readonly string[]): AgentJobs => ({
	async submit(world, job) {
		const remarks: string[] = [];
		const remarking = {
			...app,
			remark(words: string) {
				remarks.push(words);
			},
		};
		return {...(await submit(remarking, world, job, poolFlags)), remarks};
	},
	list: async (world, {account}) => listJobs(world, {account, isAll: false}),
	find: async (world, {requester, id}) => findOwnJobs(world, requester, id),
	async tail(world, {requester, id, mostBytes}) {
		const {rows} = await findOwnJobs(world, requester, id);
		const {file} = await findOutput(app, world, id);
		const {openLog} = await app.loadDetaching();
		// Reads one byte more, to see whether the file is longer. The limit also ends the read if the file keeps growing.
		const log = openLog(file, mostBytes + 1);
		try {
			const parts: Uint8Array[] = [];
			let length = 0;
			for (let bytes = log.read(); bytes.length > 0 && length <= mostBytes; bytes = log.read()) {
				parts.push(bytes);
				length += bytes.length;
			}

			const all = Buffer.concat(parts);
			return {row: rows[0]!, file, bytes: all.subarray(-mostBytes), isCut: length > mostBytes};
		} finally {
			log.close();
		}
	},
	async cancel(world, {requester, id, via, signal}) {
		await findOwnJobs(world, requester, id);
		const {cancelled, stuck} = await cancelAndWait(app, world, {requester, ids: [id], via, aborted: signal});
		if (stuck !== undefined) {
			throw stuckError(stuck);
		}

		return cancelled;
	},
});
