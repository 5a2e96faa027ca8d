/** Lists, cancels, requeues and awaits batch jobs, for `jobs`, `logs`, `cancel`, `wait` and `retry`. */
import {CanhazgpuError, quoted} from '../../errors.js';
import type {EngineJobs} from '../../core/operations/engine.js';
import type {JobState} from '../../core/model/jobs.js';
import type {Requester} from '../../core/model/types.js';
import {isRoot} from '../../core/rules/leases/ownership.js';
import {maskSecrets} from '../../core/rules/processes/secrets.js';
import {recentSeconds, type JobRow} from '../../core/rules/jobs/rows.js';
import {keepsAccounts} from './accounting.js';
import {shellExitCode, type SlurmJob} from './answers/jobs.js';
import type {Cluster} from './cluster.js';

/** Reasons of a pending job that would not start even if GPUs were free. */
const laterReasons = /^(?:Dependency|DependencyNeverSatisfied|BeginTime|JobArrayTaskLimit|JobHeld.*)$/v;

const endStates: Readonly<Record<string, JobState>> = {
	COMPLETED: 'completed',
	TIMEOUT: 'timeout',
	CANCELLED: 'cancelled',
};

const stateOf = ({state, stateWord, reason}: Pick<SlurmJob, 'state' | 'stateWord' | 'reason'>): JobState =>
	state === 'pending'
		? laterReasons.test(reason)
			? 'pending'
			: 'queued'
		: state === 'holding'
			? 'running'
			: (endStates[stateWord] ?? 'failed');

/** Returns the id to pass to Slurm's commands. Pending tasks of an array are listed together, under the id of the array. */
const idOf = ({id, array}: Pick<SlurmJob, 'id' | 'array'>): string =>
	array === undefined ? String(id) : array.isOne ? `${array.id}_${array.tasks}` : String(array.id);

/** Returns why a job failed, such as `node fail`. Undefined if its command failed. */
const failureFor = (stateWord: string): string | undefined =>
	stateWord === 'FAILED' ? undefined : stateWord.toLowerCase().replaceAll('_', ' ');

function rowOf(job: SlurmJob, account: string): JobRow {
	const state = stateOf(job);
	const isEnded = job.state === 'ended';
	const index = job.array?.isOne === true ? Number(job.array.tasks) : undefined;
	return {
		id: idOf(job),
		state,
		account: job.user,
		command: job.user === account ? job.name : maskSecrets(job.name),
		count: job.gpus?.count,
		after: [],
		array: job.array === undefined || index === undefined ? undefined : {id: job.array.id, index},
		submitTime: job.submitTime,
		startTime: job.state === 'pending' ? undefined : job.startTime,
		endTime: isEnded ? job.endTime : undefined,
		exitCode: isEnded && state !== 'cancelled' ? job.exitCode : undefined,
		reason: job.state === 'pending' ? job.reason : state === 'failed' ? failureFor(job.stateWord) : undefined,
		leaseId: String(job.id),
	};
}

/** Whether tasks in Slurm's notation, such as `1,4-7%2` or `0-20:5`, contain this index. */
const hasTask = (tasks: string, index: number): boolean =>
	tasks
		.replace(/%\d+$/v, '')
		.split(',')
		.some((range) => {
			const {
				first,
				last = first,
				step = '1',
			} = /^(?<first>\d{1,9})(?:-(?<last>\d{1,9})(?::(?<step>\d{1,9}))?)?$/v.exec(range)?.groups ?? {};
			return index >= Number(first) && index <= Number(last) && (index - Number(first)) % Number(step) === 0;
		});

/** Returns the index if the id names one task of an array whose pending tasks are listed together. */
function pendingTaskOf({array}: SlurmJob, id: string): number | undefined {
	const {arrayId, index} = /^(?<arrayId>\d{1,10})_(?<index>\d{1,9})$/v.exec(id)?.groups ?? {};
	const isListed = array?.isOne === false && String(array.id) === arrayId && hasTask(array.tasks, Number(index));
	return isListed ? Number(index) : undefined;
}

/** Returns the job, or only the pending task that the id names. */
function partNamed(job: SlurmJob, id: string): SlurmJob {
	const index = pendingTaskOf(job, id);
	return index === undefined ? job : {...job, array: {id: job.array!.id, tasks: String(index), isOne: true}};
}

const isNamed = (job: SlurmJob, id: string): boolean =>
	idOf(job) === id ||
	pendingTaskOf(job, id) !== undefined ||
	String(job.array?.id) === id ||
	(job.array === undefined && String(job.id) === id);

/**
Whether the controller knows all tasks of an array that begins with task 0. Tasks start in order, and the last of them gets the id of the array.
Until that task starts, the pending tasks have this id.
*/
function isWhole(tasks: readonly SlurmJob[]): boolean {
	const listed = tasks.map(({array}) => array!.tasks);
	const numbers = listed.flatMap((each) => each.replace(/%\d+$/v, '').match(/\d+/gv) ?? []);
	const count = Math.max(...numbers.map(Number)) + 1;
	return (
		tasks.some(({id, array}) => id === array!.id) &&
		Array.from({length: count}, (_, index) => index).every((index) => listed.some((each) => hasTask(each, index)))
	);
}

const unknown = (id: string): CanhazgpuError =>
	new CanhazgpuError(
		'usage',
		/^\d{1,10}(?:_\d{1,10})?$/v.test(id) ? `Slurm has no job ${id}` : `${quoted(id)} is not the id of a job`,
		{
			hint: 'See the ids: canhazgpu jobs --all. Slurm forgets a job some minutes after its end (MinJobAge).',
			agentHint: 'See the ids: gpu_job. Slurm forgets a job some minutes after its end (MinJobAge).',
		},
	);

/** Returns the row of a job in the database. Undefined if the job has not ended. */
function accountedRow(line: string, account: string): JobRow | undefined {
	const [jobId = '', user = '', word = '', code = '', submitted, started, ended, ...name] = line.split('|');
	const [stateWord = ''] = word.split(' ', 1);
	if (user === '' || ended === undefined || !/^\d+$/v.test(ended)) {
		return undefined;
	}

	// Tasks that never started are one record, such as `7_[3-9]`.
	const id = jobId.replace(/_\[.*$/v, '');
	const [array, index] = id.split('_', 2);
	const command = name.join('|');
	const [returned, signal] = code.split(':', 2).map(Number);
	return {
		id,
		state: endStates[stateWord] ?? 'failed',
		account: user,
		command: user === account ? command : maskSecrets(command),
		count: undefined,
		after: [],
		array: index === undefined ? undefined : {id: Number(array), index: Number(index)},
		submitTime: Number(submitted),
		startTime: started === undefined || !/^\d+$/v.test(started) ? undefined : Number(started),
		endTime: Number(ended),
		exitCode: stateWord === 'CANCELLED' ? undefined : shellExitCode(returned, signal),
		reason: Object.hasOwn(endStates, stateWord) ? undefined : failureFor(stateWord),
	};
}

/** Reads a job, or the jobs of an array, that the controller has forgotten from the database. Empty if there is no database or no record. */
async function accounted(cluster: Cluster, id: string, account: string): Promise<readonly JobRow[]> {
	if (!keepsAccounts(await cluster.config()) || !/^[\d_]+$/v.test(id)) {
		return [];
	}

	const columns = 'JobID,User,State,ExitCode,Submit,Start,End,JobName';
	const text = await cluster.run(
		'sacct',
		`--jobs=${id}`,
		'--allocations',
		'--noheader',
		'--parsable2',
		`--format=${columns}`,
	);
	return text.split('\n').flatMap((line) => accountedRow(line, account) ?? []);
}

export function createBatchJobs(cluster: Cluster): EngineJobs {
	/** Returns the ended tasks of an array that the controller has forgotten. Throws `failed` if they may exist and are unknown. */
	const forgottenTasks = async (
		id: string,
		{known, now}: {readonly known: readonly SlurmJob[]; readonly now: number},
		account: string,
	): Promise<readonly JobRow[]> => {
		const {minJobAgeSeconds = Infinity, ...config} = await cluster.config();
		const submitTime = Math.min(...known.map((job) => job.submitTime));
		if (now - submitTime < minJobAgeSeconds) {
			return [];
		}

		if (keepsAccounts(config)) {
			const ids = new Set(known.map((job) => idOf(job)));
			return (await accounted(cluster, id, account)).filter((row) => !ids.has(row.id));
		}

		if (isWhole(known)) {
			return [];
		}

		throw new CanhazgpuError('failed', `Slurm may have forgotten how some tasks of array ${id} ended`, {
			hint: `It has no database of ended jobs, and forgets them after some minutes (MinJobAge). Wait for single tasks: canhazgpu wait ${id}_N`,
		});
	};

	const findJobs = async (ids: readonly string[], account: string, isAll: boolean): Promise<readonly JobRow[]> => {
		const {jobs, now} = await cluster.readSince(1000);
		const rows = await Promise.all(
			ids.map(async (id) => {
				const named = jobs.filter((job) => isNamed(job, id));
				const isArray = named.some(({array}) => String(array?.id) === id);
				const found =
					named.length === 0
						? await accounted(cluster, id, account)
						: [
								...(isAll && isArray ? await forgottenTasks(id, {known: named, now}, account) : []),
								...named.map((job) => rowOf(partNamed(job, id), account)),
							];
				if (found.length === 0) {
					throw unknown(id);
				}

				return found;
			}),
		);
		return rows.flat();
	};

	const find: EngineJobs['find'] = async (ids, account) => findJobs(ids, account, false);

	const findOwn = async (requester: Requester, ids: readonly string[]): Promise<readonly JobRow[]> => {
		const rows = await find(ids, requester.account);
		const other = rows.find(({account}) => account !== requester.account);
		if (other !== undefined && !isRoot(requester)) {
			throw new CanhazgpuError('not-owner', `Job ${other.id} belongs to another account`, {
				hint: 'See whose it is: canhazgpu jobs --all',
				agentHint: 'See the jobs of your account: gpu_job',
			});
		}

		return rows;
	};

	return {
		async list(account, isAll) {
			const {jobs, now} = await cluster.read();
			return {
				now,
				rows: jobs
					.filter(
						({isBatch, user, state, endTime = now}) =>
							isBatch && (isAll || (user === account && (state !== 'ended' || now - endTime < recentSeconds))),
					)
					.map((job) => rowOf(job, account)),
			};
		},
		find,
		findAll: async (ids, account) => findJobs(ids, account, true),
		async outputOf(requester, id) {
			const [row, another] = await findOwn(requester, [id]);
			if (another !== undefined) {
				throw new CanhazgpuError('usage', `${id} is an array, and each of its jobs has its own output`, {
					hint: `Name one of them: canhazgpu logs ${row!.id}`,
					agentHint: `Name one of them: job_id "${row!.id}"`,
				});
			}

			const text = await cluster.run('scontrol', 'show', 'job', id);
			const file = text
				.split('\n')
				.map((line) => line.trim())
				.find((line) => line.startsWith('StdOut=/'))
				?.slice('StdOut='.length);
			if (file === undefined) {
				throw new CanhazgpuError('failed', `Job ${id} has no output file, because it is not a batch job`, {
					hint: 'Jobs submitted with run --detach have one.',
				});
			}

			return file;
		},
		async cancel(requester, ids) {
			const rows = await findOwn(requester, ids);
			const active = rows.filter(({state}) => ['pending', 'queued', 'running'].includes(state));
			if (active.length > 0) {
				await cluster.run('scancel', ...new Set(active.map(({id}) => id)));
			}

			return [...new Set(active.map(({id}) => id))];
		},
		async retry(requester, ids) {
			const rows = await findOwn(requester, ids);
			const active = rows.find(({state}) => ['pending', 'queued', 'running'].includes(state));
			if (active !== undefined) {
				throw new CanhazgpuError('failed', `Job ${active.id} has not ended`, {
					hint: `Cancel it first: canhazgpu cancel ${active.id}`,
				});
			}

			const own = [...new Set(rows.map(({id}) => id))];
			for (const id of own) {
				await cluster.run('scontrol', 'requeue', id);
			}

			return own;
		},
	};
}
