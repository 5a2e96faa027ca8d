/** SIGKILL of the process or of its store at every point of every command that changes something: the next read is right. */
import {describe, expect, test} from 'vitest';
import {embeddedGround, redisGround} from '../_helpers/program/kill-grounds.js';
import {createSweep} from '../_helpers/program/kill-stage.js';
import {killedCommands} from '../_helpers/program/killed-commands.js';

/** Upper bound on the points of a command. */
const most = 300;

describe.each([
	['redis', redisGround],
	['embedded', async () => embeddedGround],
])('SIGKILL at every point of a command with the %s store', (_, makeGround) => {
	test.each(killedCommands)('leaves a consistent state after $name', {timeout: 900_000}, async (command) => {
		const sweep = createSweep(await makeGround());
		let at = 1;
		while (at < most && (await sweep.kill(command, at))) {
			at++;
		}

		console.log(`${command.name}: ${at - 1} points`);
		expect(at).toBeGreaterThan(4);
		expect(at).toBeLessThan(most);
	});
});

test.each(killedCommands)(
	'$name leaves a consistent state if its Redis is killed and restarts with its data',
	{timeout: 900_000},
	async (command) => {
		const ground = await redisGround('server');
		const sweep = createSweep(ground);
		for (let at = 1; at <= 12; at++) {
			await sweep.killServer(command, at);
		}

		expect(ground.kills()).toBeGreaterThan(4);
	},
);

test.each(killedCommands.filter(({name}) => ['run', 'reserve', 'release', 'admin --drain'].includes(name)))(
	'$name leaves a consistent state if its Redis is killed and restarts empty',
	{timeout: 900_000},
	async (command) => {
		const ground = await redisGround('server and data');
		const sweep = createSweep(ground);
		for (let at = 1; at <= 24; at++) {
			await sweep.killData(command, at);
		}

		expect(ground.kills()).toBeGreaterThan(4);
	},
);
