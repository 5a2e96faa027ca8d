/** The proxy in front of a real Redis server, which the tests of late commits and the chaos test use. */
import process from 'node:process';
import {setImmediate} from 'node:timers/promises';
import {expect, onTestFinished, test} from 'vitest';
import {Redis} from 'ioredis';
import commitLua from '../../../source/store/redis/lua/commit.lua';
import {withConstants} from '../../../source/store/redis/script.js';
import {openRequestProxy} from '../../_helpers/store/request-proxy.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';

const redis = redisOfFile();

test('the test proxy does not accumulate listeners on a connection', async () => {
	const proxy = await openRequestProxy(redis.port);
	const warnings: Error[] = [];
	const note = (warning: Error): void => {
		warnings.push(warning);
	};

	process.on('warning', note);
	const client = new Redis(proxy.port);
	onTestFinished(async () => {
		process.off('warning', note);
		client.disconnect();
		await proxy.close();
	});
	const script = withConstants(commitLua);
	proxy.meet([]);
	for (let commit = 0; commit < 20; commit++) {
		// The proxy recognizes a commit by its script. The script may fail for these arguments.
		await client.eval(script, 0).catch(() => undefined);
	}

	await setImmediate();
	expect(proxy.commits()).toBe(20);
	expect(warnings).toEqual([]);
});
