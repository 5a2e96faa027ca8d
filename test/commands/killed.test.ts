/** Kills some commands at some points. test/long covers all. */
import {chmodSync, rmSync} from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {embeddedGround, redisGround} from '../_helpers/program/kill-grounds.js';
import {createSweep} from '../_helpers/program/kill-stage.js';
import {killedCommands} from '../_helpers/program/killed-commands.js';
import {freshEmbeddedBox} from '../_helpers/program/processes.js';
import {firstCase, slowTest} from '../_helpers/slow.js';

const anyCommand = fc.constantFrom(...killedCommands);

describe.each(
	firstCase([
		['embedded', async () => embeddedGround, 40],
		['redis', redisGround, 12],
	]),
)('a killed command with the %s store', (_, makeGround, points) => {
	test('takes effect completely or not at all, and leaves a consistent pool', async () => {
		const sweep = createSweep(await makeGround());
		let kills = 0;
		await fc.assert(
			fc.asyncProperty(anyCommand, fc.integer({min: 1, max: points}), async (command, at) => {
				kills += (await sweep.kill(command, at)) ? 1 : 0;
			}),
			// Guarantees that one command is killed, because random points can all come after the end of their commands.
			{numRuns: 2, endOnFailure: true, examples: [[killedCommands[0]!, 1]]},
		);
		expect(kills).toBeGreaterThan(0);
	});
});

slowTest('a command takes effect at most once if Redis is killed and restarted during the command', async () => {
	const sweep = createSweep(await redisGround('server'));
	await fc.assert(
		fc.asyncProperty(anyCommand, fc.integer({min: 1, max: 12}), async (command, at) => {
			await sweep.killServer(command, at);
		}),
		{numRuns: 2, endOnFailure: true},
	);
});

slowTest('admin with the same options completes an interrupted setup without ending reservations', async () => {
	const box = await freshEmbeddedBox(2);
	await box.run('reserve');
	rmSync(path.join(box.poolDirectory, 'pool.json'));
	expect(await box.run('status')).toMatchObject({exitCode: 4});
	expect(await box.run('admin --gpus 3 --provider fake')).toMatchObject({exitCode: 1, stdout: ''});
	expect(await box.run('status')).toMatchObject({exitCode: 4});
	chmodSync(box.poolDirectory, 0o777);
	expect(await box.run('admin --gpus 2 --provider fake')).toEqual({
		exitCode: 0,
		stdout: `The pool of 2 GPU(s) (fake) in ${box.poolDirectory}/pool.sqlite already existed. Everyone on this machine uses it now\n`,
		stderr: `Others could write to ${box.poolDirectory}: their permission was removed.\n`,
	});
	expect((await box.run('status --json')).stdout).toContain('"type": "MANUAL"');
	expect(await box.run('admin --gpus 2 --provider fake')).toMatchObject({exitCode: 1});
});
