import type {Redis} from 'ioredis';
import type {JobList} from '../../core/model/jobs.js';
import type {Store} from '../../core/model/ports.js';
import {decodeJobs} from '../raw-snapshot.js';
import type {Connection} from './connection.js';
import readJobsLua from './lua/read-jobs.lua';
import {valueOf} from './read-reply.js';
import {ask, integerOf, listOf} from './replies.js';
import {readingScript} from './script.js';

type Scripted = Redis & {readonly readJobsBuffer: (...values: readonly number[]) => Promise<unknown>};

/** How often the records are read if the index changes during each read. */
const mostReads = 5;

/** The number of records in one answer of Redis. The connection gives up on an answer of more than 64 MiB. */
const pageLength = 100;

const pagesOf = (numbers: readonly number[]): ReadonlyArray<readonly number[]> =>
	Array.from({length: Math.max(1, Math.ceil(numbers.length / pageLength))}, (_, page) =>
		numbers.slice(page * pageLength, (page + 1) * pageLength),
	);

export function createJobReader(connection: Connection): Store['readJobs'] {
	connection.client.defineCommand('readJobs', {lua: readingScript(readJobsLua)});
	const readPage = async (numbers: readonly number[]) =>
		ask(
			connection,
			async (client) => (client as Scripted).readJobsBuffer(0, ...numbers),
			(reply) => {
				const [seconds, microseconds, index, records] = listOf(reply, (item) => item);
				const values = listOf(records, valueOf);
				return decodeJobs(
					integerOf(seconds) + integerOf(microseconds) / 1e6,
					valueOf(index),
					numbers.map((number, position) => [number, values[position]] as const),
				);
			},
		);

	/** Reads the records in pages. A record can change between two pages, so a plan must expect each record that it relies on. */
	const read = async (numbers: readonly number[]): Promise<JobList> => {
		const lists: JobList[] = [];
		for (const page of pagesOf(numbers)) {
			lists.push(await readPage(page));
		}

		return {...lists.at(-1)!, records: lists.flatMap(({records}) => records)};
	};

	return async (numbers) => {
		if (numbers !== undefined) {
			return read(numbers);
		}

		let list = await read([]);
		for (let reads = 0; reads < mostReads && list.index.numbers.length > 0; reads++) {
			const {raw} = list.index;
			list = await read(list.index.numbers);
			if (list.index.raw === raw) {
				break;
			}
		}

		return list;
	};
}
