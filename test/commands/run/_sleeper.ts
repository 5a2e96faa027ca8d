/** A job under `run` that lives until the test ends it. */
import {rmSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {onTestFinished} from 'vitest';
import type {Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {fileIn, isAlive, peek, start} from '../../_helpers/program/processes.js';

/** A job that writes its pid and sleeps. */
const sleeper = ['sh', '-c', 'echo $$ > pid; exec sleep 600'];

/** Starts the job under `run`. Returns its pid once the lease names it. */
export async function startSleeper(box: Box, flags: readonly string[] = [], job: readonly string[] = sleeper) {
	rmSync(path.join(box.home, 'pid'), {force: true});
	const wrapper = start(box, ['run', ...flags, '--', ...job]);
	const pid = Number(await fileIn(box, 'pid'));
	onTestFinished(() => {
		if (isAlive(pid)) {
			process.kill(pid, 'SIGKILL');
		}
	});
	await eventually(async () => {
		const {gpus} = await peek(box);
		return gpus.some((record) => record.kind === 'leased' && record.lease.job?.pid === pid);
	});
	return {wrapper, pid};
}
