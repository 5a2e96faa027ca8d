import * as v from 'valibot';
import {isOver} from '../../core/rules/jobs/start.js';
import {jobWords, outputWords} from '../../format/job-words.js';
import {jobJson} from '../../format/jobs.js';
import {jobId, whole} from '../input.js';
import {defineTool} from '../tool.js';
import type {Rows} from '../agent-jobs.js';

/** Maximum number of bytes that are read from an output, and of lines that are returned. */
const mostBytes = 65_536;
const mostLines = 1000;

const jsonOf = ({rows, now}: Rows) => rows.map((row) => jobJson(row, now));

export const job = defineTool({
	name: 'gpu_job',
	title: 'State of jobs',
	description:
		'Shows jobs of your account, from gpu_run and from canhazgpu run --detach: those that are waiting or running or ended in the last day, or only the job with job_id. Do not call gpu_job every few seconds.',
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
		lines: v.optional(whole(1, mostLines, 'number of lines to return. The default is 100.'), 100),
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
		'Cancels a job of your account, or all jobs of an array. A running command and all processes that it has started get SIGTERM, and SIGKILL after 30 seconds. This cannot be undone.',
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
		// Slurm answers before the processes of a cancelled job have ended.
		const isEnding = cancelled.length > 0 && listed.rows.some((row) => !isOver(row));
		const state = isEnding ? 'It ends in a moment: see gpu_job.' : jobWords(listed.rows, listed.now);
		return {json: jsonOf(listed), words: `${done} ${state}`};
	},
});
