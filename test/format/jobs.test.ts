import {expect, test} from 'vitest';
import type {JobRow} from '../../source/core/rules/jobs/rows.js';
import {jobJson, jobsTable} from '../../source/format/jobs.js';
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
