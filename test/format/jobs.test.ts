import {expect, test} from 'vitest';
import type {JobRow} from '../../source/core/rules/jobs/rows.js';
import {detailsText, jobJson, jobsTable} from '../../source/format/jobs.js';
import {createPaint} from '../../source/format/text/paint.js';

const now = 1000;

const rows: readonly JobRow[] = [
	{
		id: '1',
		state: 'running',
		account: 'alice',
		command: 'python train.py',
		count: 1,
		gpus: [3],
		after: [],
		submitTime: 0,
		startTime: 400,
		via: 'mcp claude-code\u{1B}[31m',
	},
	{
		id: '2',
		state: 'completed',
		account: 'alice',
		command: 'make',
		count: 1,
		after: [],
		submitTime: 0,
		startTime: 1,
		endTime: 61,
		exitCode: 0,
		via: 'mcp codex',
	},
	{id: '3', state: 'queued', account: 'alice', command: 'make', count: 2, after: [], submitTime: 0},
];

test('the table of jobs names the interface that submitted a job', () => {
	const table = jobsTable(rows, createPaint(false, {}), {now, width: undefined, hasUsers: false});
	expect(table.split('\n').map((line) => line.split('│').at(-1)!.trim())).toEqual([
		'DETAILS',
		expect.any(String),
		'GPU 3 (via mcp claude-code)',
		'via mcp codex',
		'waits for 2 GPUs',
	]);
});

test('the JSON of a job says in `details` which GPUs a running job has and what a queued job waits for', () => {
	expect(rows.map((row) => jobJson(row, now).details)).toEqual(['GPU 3', undefined, 'waits for 2 GPUs']);
});

test('the details of a job name its MIG instances, its share, and the kind of GPU that it waits for', () => {
	const mig = {profile: '1g.10gb'};
	const queued = rows[2];
	const [running] = rows;
	const detailsOf = (row: JobRow) => detailsText(row, now);
	expect(detailsOf({...running!, need: {mig}, instances: [{gpu: 3, number: 1, uuid: 'MIG-a'}]})).toBe(
		'MIG instance 3:1',
	);
	expect(detailsOf({...running!, need: {shareMiB: 8192}})).toBe('a share of 8G of GPU 3');
	expect(detailsOf({...queued!, need: {mig}})).toBe('waits for 2 MIG instances of 1g.10gb or larger');
	expect(detailsOf({...queued!, need: {models: ['h100\u{1B}[31m']}})).toBe('waits for 2 GPUs of model h100');
});

test('the details of a queued job that has never run say why it is outside the queue', () => {
	const reason = 'bob has 2 waiting requests, the most that are allowed';
	expect(detailsText({...rows[2]!, reason, starts: 0}, now)).toBe(reason);
	expect(detailsText({...rows[2]!, reason, starts: 1}, now)).toBe('waits for 2 GPUs, for run 2');
});
