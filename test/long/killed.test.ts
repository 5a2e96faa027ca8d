/** Kill -9 at every point of every verb that changes something, of itself or of its store: the next look is right. */
import {describe, expect, test} from 'vitest';
import {embeddedGround, redisGround} from '../_helpers/program/kill-grounds.js';
import {createSweep} from '../_helpers/program/kill-stage.js';
import {killedVerbs} from '../_helpers/program/killed-verbs.js';

/** More points than any of them has. */
const most = 300;

describe.each([
	['redis', redisGround],
	['embedded', async () => embeddedGround],
])('on %s', (_, makeGround) => {
	test.each(killedVerbs)('$name', {timeout: 900_000}, async (verb) => {
		const sweep = createSweep(await makeGround());
		let at = 1;
		while (at < most && (await sweep.kill(verb, at))) {
			at++;
		}

		console.log(`${verb.name}: ${at - 1} points`);
		expect(at).toBeGreaterThan(4);
		expect(at).toBeLessThan(most);
	});
});

test.each(killedVerbs)(
	'the Redis of $name is killed, and comes back with its data',
	{timeout: 900_000},
	async (verb) => {
		const ground = await redisGround('server');
		const sweep = createSweep(ground);
		for (let at = 1; at <= 12; at++) {
			await sweep.killServer(verb, at);
		}

		expect(ground.kills()).toBeGreaterThan(4);
	},
);

test.each(killedVerbs.filter(({name}) => ['run', 'reserve', 'release', 'admin --drain'].includes(name)))(
	'the Redis of $name is killed, and has forgotten everything',
	{timeout: 900_000},
	async (verb) => {
		const ground = await redisGround('server and data');
		const sweep = createSweep(ground);
		for (let at = 1; at <= 24; at++) {
			await sweep.killData(verb, at);
		}

		expect(ground.kills()).toBeGreaterThan(4);
	},
);
