/** `queue --json`, `report --json`, and the requests of the dashboard. */
import {makeReport} from '../../../../source/core/operations/history/report.js';
import {byUser} from '../../../../source/core/rules/pool/report.js';
import {statusRows} from '../../../../source/core/rules/pool/status.js';
import {queueRows} from '../../../../source/core/rules/queue/queue-rows.js';
import type {QueueRecord, UsageRecord} from '../../../../source/core/model/types.js';
import {reportJson, reportTable, webReportJson} from '../../../../source/format/tables/report.js';
import {queueJson, queueTable} from '../../../../source/format/tables/queue-table.js';
import {statusTable} from '../../../../source/format/tables/status-table.js';
import {createPaint} from '../../../../source/format/text/paint.js';
import {decodeQueueEntry} from '../../../../source/store/records/queue-entry.js';
import {idleReading, observationOf, snapshotWith} from '../../../_helpers/world.js';
import {fieldCases, type Case, type Group} from './group.js';

const now = 1_800_000_000;
const at = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');

/** Returns an entry as the Go program writes it. */
const entryOf = (id: string, fields: Readonly<Record<string, unknown>>): QueueRecord =>
	decodeQueueEntry(
		id,
		JSON.stringify({
			id,
			user: 'alice',
			actual_user: 'alice',
			requested_count: 1,
			allocated_gpus: [],
			reservation_type: 'run',
			enqueue_time: at(now - 60),
			last_heartbeat: at(now - 5),
			...fields,
		}),
	);

const freeGpus = (count: number) =>
	Array.from({length: count}, (_, index) => ({kind: 'free', index, raw: undefined}) as const);

const heldFor = (queueId: string, index: number) =>
	({
		kind: 'leased',
		index,
		raw: '{}',
		lease: {user: 'alice', type: 'run', startTime: now, lastHeartbeat: now, partialQueueId: queueId},
	}) as const;

function queueCases(): readonly Case[] {
	const snapshot = snapshotWith({
		now,
		pool: {gpuCount: 6, provider: 'fake'},
		gpus: [heldFor('first', 0), heldFor('first', 1), ...freeGpus(6).slice(2)],
		queue: [
			entryOf('first', {requested_count: 3, allocated_gpus: [0, 1]}),
			entryOf('second', {
				user: 'bob',
				requested_count: 0,
				requested_ids: [1, 3, 5],
				reservation_type: 'manual',
				expiry_duration: 7_200_000_000_000,
				note: 'why',
				wait_timeout: at(now + 600),
			}),
		],
	});
	const {entries, ...totals} = queueJson(queueRows(snapshot));
	const empty = queueJson([]);
	return [
		...fieldCases('queue', {total_waiting: 2, total_gpus_requested: 6, total_gpus_allocated: 2}, totals),
		...fieldCases(
			'the first entry',
			{
				id: 'first',
				user: 'alice',
				actual_user: 'alice',
				requested_count: 3,
				allocated_gpus: [0, 1],
				reservation_type: 'run',
				expiry_duration: undefined,
				note: undefined,
				enqueue_time: at(now - 60),
				last_heartbeat: at(now - 5),
				wait_timeout: undefined,
			},
			entries[0]!,
		),
		...fieldCases(
			'the second entry',
			{
				id: 'second',
				user: 'bob',
				requested_ids: [1, 3, 5],
				allocated_gpus: [],
				reservation_type: 'manual',
				expiry_duration: 7_200_000_000_000,
				note: 'why',
				wait_timeout: at(now + 600),
			},
			entries[1]!,
		),
		...fieldCases(
			'an empty queue',
			{total_waiting: 0, total_gpus_requested: 0, total_gpus_allocated: 0, entries: null},
			empty,
		),
	];
}

const day = 86_400;

const usage = (user: string, reservationType: 'run' | 'manual', hours: number, gpuId = 0): UsageRecord => ({
	user,
	gpuId,
	startTime: now - day - hours * 3600,
	endTime: now - day,
	durationSeconds: hours * 3600,
	reservationType,
});

async function reportCases(): Promise<readonly Case[]> {
	const records = [
		usage('alice', 'run', 2),
		usage('alice', 'run', 1, 1),
		usage('alice', 'manual', 3, 2),
		usage('bob', 'manual', 2, 3),
	];
	const made = await makeReport(records, [], {
		window: {from: now - 30 * day, to: now},
		split: byUser,
	});
	const json: Readonly<Record<string, unknown>> = reportJson(made, 'user');
	const users = json['users'] as ReadonlyArray<Readonly<Record<string, unknown>>>;
	const answer = webReportJson(made, 'user');
	const localDay = (seconds: number): string => {
		const date = new Date(seconds * 1000);
		return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
			.map((part) => String(part).padStart(2, '0'))
			.join('-');
	};

	const sums = {
		total_gpu_hours: 8,
		total_reservations: 4,
		unique_users: 2,
		start_date: localDay(now - 30 * day),
		end_date: localDay(now),
		days: 30,
	};
	return [
		...fieldCases('report', sums, json),
		...fieldCases(
			'the first user',
			{name: 'alice', gpu_hours: 6, percentage: 75, run_count: 2, manual_count: 1},
			users[0]!,
		),
		...fieldCases(
			'the second user',
			{name: 'bob', gpu_hours: 2, percentage: 25, run_count: 0, manual_count: 1},
			users[1]!,
		),
		...fieldCases('/api/report', sums, answer),
		['/api/report: users', ['alice', 'bob'], answer.users.map(({name}) => name)],
	];
}

/** Returns the columns of a table from its first line. */
const columnsOf = (table: string): readonly string[] => {
	const line = table.split('\n').find((text) => /[A-Z]{3}/v.test(text)) ?? '';
	return line
		.split(/\s{2,}|│/v)
		.map((title) => title.trim())
		.filter((title) => title !== '');
};

async function tableCases(): Promise<readonly Case[]> {
	const paint = createPaint(false, {});
	const made = await makeReport([usage('alice', 'run', 2)], [], {
		window: {from: now - 30 * day, to: now},
		split: byUser,
	});
	const rows = queueRows(snapshotWith({now, gpus: freeGpus(1), queue: [entryOf('first', {})]}));
	const snapshot = snapshotWith({now, gpus: freeGpus(1)});
	const status = statusTable(statusRows(snapshot, observationOf([idleReading(0)]), 1024), paint, undefined);
	return [
		[
			'status, but for NOTE behind them',
			['GPU', 'STATUS', 'USER', 'DURATION', 'TYPE', 'DETAILS', 'VALIDATION'],
			columnsOf(status).slice(0, 7),
		],
		['queue', ['Position', 'User', 'Requested', 'Allocated', 'Waiting'], columnsOf(queueTable(rows, paint, {now}))],
		[
			'report',
			['User', 'GPU Hours', 'Percentage', 'Run', 'Manual'],
			columnsOf(reportTable(made, {by: 'user', period: 'in the last 30 days', hasBars: false}, paint)),
		],
	];
}

export const queueAndReportGroups: readonly Group[] = [
	{
		name: 'queue --json',
		origin: 'its source',
		cases: queueCases,
		differences: {'an empty queue: entries': 'an empty list, which every script can go through; there it is null'},
	},
	{name: 'report --json and /api/report', origin: 'its source', cases: reportCases},
	{
		name: 'columns of tables',
		origin: 'its source',
		cases: tableCases,
		differences: {
			queue: 'they also say what each waits for, and until when; JSON is for scripts',
			report: 'SHARE is the percentage; JSON is for scripts',
		},
	},
];
