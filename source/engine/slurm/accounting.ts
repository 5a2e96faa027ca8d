/** Reads ended jobs from Slurm's database, for `report` and older `events`. The format is `sacct --parsable2`, with SLURM_TIME_FORMAT=%s. */
import {CanhazgpuError} from '../../errors.js';
import type {UsageHistory} from '../../core/model/ports.js';
import type {UsageRecord} from '../../core/model/types.js';
import {countIn} from './answers/gres.js';
import type {SlurmJob} from './answers/jobs.js';
import type {Cluster, ClusterConfig} from './cluster.js';
import {isReservationName} from './snapshot.js';

/** Columns of sacct, in order. The name is last because only a name can contain the separator. */
const accountingColumns = 'JobIDRaw,User,State,Submit,Start,End,AllocTRES,JobName';

/** An ended job. Slurm keeps the number of the job's GPUs, but not their ids. */
export type EndedJob = Pick<
	SlurmJob,
	'id' | 'user' | 'name' | 'state' | 'stateWord' | 'submitTime' | 'startTime' | 'endTime' | 'gpus' | 'shards' | 'held'
>;

const secondsIn = (text: string): number | undefined =>
	/^\d{1,12}$/v.test(text) && text !== '0' ? Number(text) : undefined;

export function gpusIn(tres: string): number {
	const counts = tres.split(',').flatMap((part) => {
		const [name = '', count] = part.split('=', 2);
		return /^gres\/gpu(?::|$)/v.test(name) ? [{isAll: name === 'gres/gpu', count: countIn(count) ?? 0}] : [];
	});
	const all = counts.find(({isAll}) => isAll);
	return all?.count ?? counts.reduce((sum, {count}) => sum + count, 0);
}

function jobOf(line: string): EndedJob | undefined {
	const [id = '', user = '', state = '', submitted = '', started = '', ended = '', tres = '', ...name] =
		line.split('|');
	const [submitTime, startTime, endTime] = [submitted, started, ended].map((each) => secondsIn(each));
	const count = gpusIn(tres);
	return /^\d{1,12}$/v.test(id) && user !== '' && submitTime !== undefined && endTime !== undefined && count > 0
		? {
				id: Number(id),
				user,
				name: name.join('|'),
				state: 'ended',
				// The state can end with the account that ended the job: `CANCELLED by 1000`.
				stateWord: state.split(' ', 1)[0]!,
				submitTime,
				startTime,
				endTime,
				gpus: {type: undefined, count},
				held: [],
			}
		: undefined;
}

export const readAccounting = (text: string): readonly EndedJob[] =>
	text.split('\n').flatMap((line) => jobOf(line) ?? []);

/** Returns the error of a cluster without a database. The file of ended jobs (jobcomp/filetxt) cannot replace it, because it has no GPU counts. */
const noDatabase = (): CanhazgpuError =>
	new CanhazgpuError(
		'failed',
		'Slurm accounting is off on this cluster, so there is no record of who used how many GPUs',
		{
			hint: 'Ask the Slurm administrator to set up slurmdbd and, in slurm.conf, AccountingStorageType=accounting_storage/slurmdbd and AccountingStorageTRES=gres/gpu. JobCompLoc is not enough: it records jobs without their GPUs.',
		},
	);

const notCounted = (): CanhazgpuError =>
	new CanhazgpuError('failed', 'Slurm accounting on this cluster does not record GPUs', {
		hint: 'Ask the Slurm administrator to add AccountingStorageTRES=gres/gpu to slurm.conf. GPUs are recorded only from then on.',
	});

/** Whether Slurm has a database of ended jobs. */
export const keepsAccounts = ({accountingType}: ClusterConfig): boolean =>
	!['', 'accounting_storage/none'].includes(accountingType);

export const countsGpus = (config: ClusterConfig): boolean =>
	keepsAccounts(config) && /(?:^|,)gres\/gpu(?:[,:]|$)/v.test(config.accountingTres);

/** Returns jobs with GPUs that ended since `fromTime`, in seconds since the epoch, as far as Slurm shows them to this account. */
export async function endedJobs(cluster: Cluster, fromTime: number): Promise<readonly EndedJob[]> {
	const agoSeconds = Math.max(1, Math.ceil(Date.now() / 1000 - fromTime));
	const text = await cluster.run(
		'sacct',
		'--allusers',
		'--allocations',
		'--noheader',
		'--parsable2',
		`--starttime=now-${agoSeconds}seconds`,
		'--endtime=now',
		`--format=${accountingColumns}`,
	);
	return readAccounting(text).filter(({endTime}) => endTime! >= fromTime);
}

function recordsOf({id, user, name, startTime, endTime, gpus}: EndedJob): readonly UsageRecord[] {
	if (startTime === undefined || endTime === undefined || gpus === undefined) {
		return [];
	}

	const end = Math.max(startTime, endTime);
	const record: UsageRecord = {
		user,
		actualUser: user,
		gpuId: undefined,
		startTime,
		endTime: end,
		durationSeconds: end - startTime,
		reservationType: isReservationName(name) ? 'manual' : 'run',
		leaseId: String(id),
		note: isReservationName(name) ? undefined : name,
	};
	return Array.from({length: gpus.count}, () => record);
}

/** Returns usage records that ended between these times, oldest first. Rejects with `failed` if Slurm does not count GPUs. */
export function accountedUsage(cluster: Cluster, fromTime: number, toTime: number): UsageHistory {
	async function* pages(): AsyncGenerator<readonly UsageRecord[]> {
		const config = await cluster.config();
		if (!countsGpus(config)) {
			throw keepsAccounts(config) ? notCounted() : noDatabase();
		}

		const jobs = await endedJobs(cluster, fromTime);
		yield jobs
			.filter(({endTime}) => endTime! <= toTime)
			.toSorted((a, b) => a.endTime! - b.endTime!)
			.flatMap((job) => recordsOf(job));
	}

	return {
		pages,
		async *[Symbol.asyncIterator]() {
			for await (const page of pages()) {
				yield* page;
			}
		},
	};
}
