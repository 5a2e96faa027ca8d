import * as v from 'valibot';
import {isOver} from '../../core/rules/jobs/start.js';
import {jobWords, outputWords} from '../../format/job-words.js';
import {jobJson} from '../../format/jobs.js';
import {jobId, whole} from '../input.js';
import {defineTool} from '../tool.js';
import type {Rows} from '../agent-jobs.js';

/** The most bytes of an output that are read, and the most lines of them that are returned. */
const mostBytes = 65_536;
const mostLines = 1000;

const jsonOf = ({rows, now}: Rows) => rows.map((row) => jobJson(row, now));

export const job = defineTool({
	name: 'gpu_job',
	title: 'State of jobs',
	description:
		'Shows jobs of your account, from gpu_run and from canhazgpu run --detach: those that wait, run or ended during the last day, or the one with job_id. Do not call it every few seconds.',
	input: v.strictObject({
		job_id: v.optional(jobId('only this job, or the jobs of this array')),
	}),
	output: 'jobs',
	isReadOnly: true,
	async call({world, requester, jobs}, {job_id: id}) {
		const listed = await (id === undefined ? jobs.list(world, requester) : jobs.find(world, {requester, id}));
		return {json: jsonOf(listed), words: jobWords(listed.rows, listed.now)};
	},
});

export const logs = defineTool({
	name: 'gpu_logs',
	title: 'Output of a job',
	description: `Returns the last lines that a job of your account has written, at most ${mostBytes / 1024} KiB of them. Escape sequences are removed. The whole output is in the file that gpu_job names as output.`,
	input: v.strictObject({
		job_id: jobId('the job'),
		lines: v.optional(whole(1, mostLines, 'how many lines. The default is 100.'), 100),
	}),
	isReadOnly: true,
	async call({world, requester, jobs}, {job_id: id, lines}) {
		return {words: outputWords(await jobs.tail(world, {requester, id, mostBytes}), lines)};
	},
});

export const cancel = defineTool({
	name: 'gpu_cancel',
	title: 'Cancel a job',
	description:
		'Cancels a job of your account, or all jobs of an array. A running command and all processes that it has started get SIGTERM, and after 30 seconds SIGKILL. It cannot be undone.',
	input: v.strictObject({job_id: jobId('the job, or the array')}),
	output: 'jobs',
	isReadOnly: false,
	isDestructive: true,
	async call({world, requester, via, jobs, signal}, {job_id: id}) {
		const cancelled = await jobs.cancel(world, {requester, id, via, signal});
		const listed = await jobs.find(world, {requester, id});
		const done =
			cancelled.length === 0
				? 'Nothing was cancelled, because the job has already ended.'
				: `Cancelled ${cancelled.length === 1 ? 'job' : 'jobs'} ${cancelled.join(', ')}.`;
		// Slurm does not wait for the end of the processes.
		const isEnding = cancelled.length > 0 && listed.rows.some((row) => !isOver(row));
		const state = isEnding ? 'It ends in a moment: see gpu_job.' : jobWords(listed.rows, listed.now);
		return {json: jsonOf(listed), words: `${done} ${state}`};
	},
});
