import {
	jobStates,
	type ArrayPlace,
	type Dependency,
	type Job,
	type JobIndex,
	type JobList,
	type JobRecord,
} from '../../core/model/jobs.js';
import {instancesRecord, readInstances} from './instances.js';
import {readRecord, type Fields} from './json/fields.js';
import {needRecord, readNeed} from './need.js';
import {holderFields, jobFields, readBoot, readProcess} from './process.js';
import {formatRfc3339} from './json/time.js';
import {optionalText, writeRecord} from './json/write.js';

/** Maximum number of records to read, because any account can write the index. */
const mostJobs = 20_000;

const readDependency = (item: Fields): Dependency => ({
	id: item.required('id', item.text('id')),
	isAny: item.flag('any') ?? false,
});

function readArray(item: Fields | undefined): ArrayPlace | undefined {
	if (item === undefined) {
		return undefined;
	}

	const limit = item.whole('limit');
	return {
		id: item.required('id', item.whole('id')),
		index: item.required('index', item.whole('index')),
		...(limit !== undefined && {limit}),
	};
}

function readJob(fields: Fields, number: number): Job {
	fields.ignore('number');
	const gpus = fields.integers('gpus');
	const job: Job = {
		number,
		token: fields.required('token', fields.text('token')),
		state: fields.choice('state', jobStates),
		account: fields.required('account', fields.text('account')),
		directory: fields.required('directory', fields.text('directory')),
		words: fields.texts('words'),
		command: fields.texts('command'),
		seal: fields.text('seal'),
		via: fields.text('via'),
		count: fields.whole('count') ?? 1,
		need: readNeed(fields.object('need')),
		after: fields.records('after', readDependency),
		begin: fields.time('begin'),
		array: readArray(fields.object('array')),
		retries: fields.whole('retries') ?? 0,
		starts: fields.whole('starts') ?? 0,
		submitTime: fields.required('submit_time', fields.time('submit_time')),
		startTime: fields.time('start_time'),
		endTime: fields.time('end_time'),
		leaseId: fields.text('lease_id'),
		gpus: gpus.length === 0 ? undefined : gpus,
		instances: readInstances(fields),
		exitCode: fields.whole('exit_code'),
		reason: fields.text('reason'),
		cancelledBy: fields.text('cancelled_by'),
		cancelledVia: fields.text('cancelled_via'),
		log: fields.required('log', fields.text('log')),
		machine: fields.text('machine'),
		bootId: readBoot(fields),
		holder: readProcess(fields, 'pid'),
		isHeld: fields.flag('held') ?? false,
		job: readProcess(fields, 'job_pid'),
	};
	const unknownFields = fields.rest();
	return unknownFields === undefined ? job : {...job, unknownFields};
}

export function decodeJob(number: number, raw: string): JobRecord {
	const result = readRecord(raw, (fields) => readJob(fields, number));
	return 'problem' in result
		? {kind: 'garbage', number, raw, problem: result.problem}
		: {kind: 'job', number, raw, job: result.value};
}

const optionalTime = (time: number | undefined): string | undefined =>
	time === undefined ? undefined : formatRfc3339(time);

export const encodeJob = (job: Job): string =>
	writeRecord(
		{
			number: job.number,
			token: job.token,
			state: job.state,
			account: job.account,
			directory: job.directory,
			words: job.words,
			command: job.command,
			seal: optionalText(job.seal),
			via: optionalText(job.via),
			count: job.count,
			need: job.need && needRecord(job.need),
			after: job.after.length === 0 ? undefined : job.after.map(({id, isAny}) => ({id, any: isAny || undefined})),
			begin: optionalTime(job.begin),
			array: job.array,
			retries: job.retries === 0 ? undefined : job.retries,
			starts: job.starts === 0 ? undefined : job.starts,
			submit_time: formatRfc3339(job.submitTime),
			start_time: optionalTime(job.startTime),
			end_time: optionalTime(job.endTime),
			lease_id: optionalText(job.leaseId),
			gpus: job.gpus,
			instances: instancesRecord(job.instances),
			exit_code: job.exitCode,
			reason: optionalText(job.reason),
			cancelled_by: optionalText(job.cancelledBy),
			cancelled_via: optionalText(job.cancelledVia),
			log: job.log,
			machine: optionalText(job.machine),
			boot_id: optionalText(job.bootId),
			...(job.holder && holderFields(job.holder)),
			held: job.isHeld || undefined,
			...(job.job && jobFields(job.job)),
		},
		job.unknownFields,
	);

/** Parses `NEXT RANGES`, such as `9 1-3,5,8`, and keeps the last {@link mostJobs} numbers. Without a valid index there are no jobs. */
export function decodeJobIndex(raw: string | undefined): JobList['index'] {
	const {next = '1', ranges = ''} = /^(?<next>\d{1,9})(?: (?<ranges>[\d,\-]*))?$/v.exec(raw ?? '')?.groups ?? {};
	const numbers: number[] = [];
	for (const range of ranges.split(',').toReversed()) {
		const [first = '', last = first] = range.split('-', 2);
		const lowest = first === '' ? Infinity : Number(first);
		for (let number = Number(last); number >= lowest && numbers.length < mostJobs; number--) {
			numbers.push(number);
		}
	}

	numbers.reverse();
	return {next: Math.max(Number(next), 1 + (numbers.at(-1) ?? 0)), numbers, raw};
}

export function encodeJobIndex({next, numbers}: JobIndex): string {
	const ranges: Array<[first: number, last: number]> = [];
	for (const number of numbers) {
		const range = ranges.at(-1);
		if (range?.[1] === number - 1) {
			range[1] = number;
		} else {
			ranges.push([number, number]);
		}
	}

	return `${next} ${ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(',')}`.trimEnd();
}
