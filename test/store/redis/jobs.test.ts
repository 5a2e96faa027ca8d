import {Redis} from 'ioredis';
import {expect, onTestFinished, test} from 'vitest';
import {openRedisStore} from '../../../source/store/redis/index.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';

const redis = redisOfFile();

test('the Redis store reads all job records, even if together they are larger than the largest answer', async () => {
	const store = await openRedisStore({host: '127.0.0.1', port: redis.port, db: 0, keepReconnecting: false});
	const client = new Redis(redis.port, '127.0.0.1');
	onTestFinished(async () => {
		client.disconnect();
		await store.close();
	});
	const count = 1100;
	await client.set('canhazgpu:jobs', `${count + 1} 1-${count}`);
	const record = 'x'.repeat(65_000);
	for (let number = 1; number <= count; number++) {
		await client.set(`canhazgpu:job:${number}`, record);
	}

	const {records} = await store.readJobs();

	expect(records.map(({number}) => number)).toEqual(Array.from({length: count}, (_, index) => index + 1));
});
