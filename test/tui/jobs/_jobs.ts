import type {Job} from '../../../source/core/model/jobs.js';
import {jobRows, type JobRow} from '../../../source/core/rules/jobs/rows.js';
import {job, listOf} from '../../core/rules/jobs/_jobs.js';
import {sceneTime} from '../_world.js';

/** Jobs of alice and bob in every state. */
const scene: readonly Job[] = [
	job(1, {
		state: 'completed',
		command: ['python', 'prepare.py'],
		exitCode: 0,
		startTime: sceneTime - 9000,
		endTime: sceneTime - 8000,
	}),
	job(2, {
		state: 'failed',
		command: ['python', 'train.py', '--lr', '0.1'],
		exitCode: 1,
		reason: 'out of GPU memory',
		startTime: sceneTime - 7000,
		endTime: sceneTime - 600,
	}),
	job(3, {
		account: 'bob',
		state: 'running',
		command: ['./sweep.sh', '--token', 'secret123'],
		gpus: [0, 1],
		count: 2,
		startTime: sceneTime - 725,
	}),
	job(4, {state: 'running', command: ['python', 'eval.py'], gpus: [3], startTime: sceneTime - 60}),
	job(5, {state: 'queued', command: ['python', 'large.py'], count: 4}),
	job(6, {state: 'pending', command: ['python', 'report.py'], after: [{id: '5', isAny: false}]}),
];

/** The rows of these jobs, as alice sees them. */
export const rowsOf = (jobs: readonly Job[] = scene): readonly JobRow[] =>
	jobRows(
		{...listOf(...jobs.map((each) => ({...each, submitTime: sceneTime - 10_000}))), now: sceneTime},
		{account: 'alice', isAll: true},
	);
