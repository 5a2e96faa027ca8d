/** Kills `run` after its job has started and before the lease names the job. */
import {readdirSync, readFileSync} from 'node:fs';
import process from 'node:process';
import {expect, onTestFinished} from 'vitest';
import {liveness} from '../../../source/host/process/processes.js';
import {redisGround} from '../../_helpers/program/kill-grounds.js';
import {slowTest} from '../../_helpers/slow.js';
import {identityOf} from '../../_helpers/machine/identity-of.js';

/** Returns the pid of the process with this command line. */
const pidOf = (...words: readonly string[]): number | undefined => {
	const found = readdirSync('/proc').find((name) => {
		try {
			return readFileSync(`/proc/${name}/cmdline`, 'utf8') === `${words.join('\0')}\0`;
		} catch {
			// The process has just ended.
			return false;
		}
	});
	return found === undefined ? undefined : Number(found);
};

const statusOf = async (run: (words: string) => Promise<{readonly stdout: string}>): Promise<string> => {
	const {stdout} = await run('status --json');
	const [row] = JSON.parse(stdout) as ReadonlyArray<{readonly status: string}>;
	return row!.status;
};

slowTest('a job keeps its GPU until its end, no matter when run is killed', async () => {
	const ground = await redisGround();
	let orphans = 0;
	// The store calls of `run` from joining the queue until the lease names the job.
	for (let at = 4; at <= 16; at++) {
		const box = await ground.fresh();
		await box.run('admin --gpus 1 --provider fake');
		const seconds = `600.${process.pid}${at}`;
		const started = ground.startKilled(box, ['run', '--', 'sleep', seconds], at);
		await started.ended;
		const job = pidOf('sleep', seconds);
		if (job === undefined) {
			expect(await statusOf(box.run), `killed at ${at}`).toBe('AVAILABLE');
			continue;
		}

		const identity = identityOf(job)!;
		onTestFinished(() => {
			if (liveness([identity])[0] === 'alive') {
				process.kill(identity.pid, 'SIGKILL');
			}
		});
		orphans++;
		expect(await statusOf(box.run), `killed at ${at}`).toBe('IN_USE');
		expect(await box.run('run --nonblock -- true'), `killed at ${at}`).toMatchObject({exitCode: 3});
		process.kill(identity.pid, 'SIGKILL');
		await expect.poll(async () => statusOf(box.run)).toBe('AVAILABLE');
	}

	expect(orphans).toBeGreaterThan(1);
});
