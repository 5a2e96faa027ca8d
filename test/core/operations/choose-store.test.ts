import fc from 'fast-check';
import {expect, test} from 'vitest';
import {chooseStore, type RedisAnswer, type StoreFacts} from '../../../source/core/operations/pool/choose-store.js';

const nothing: StoreFacts = {
	asked: undefined,
	isRedisGiven: false,
	recorded: undefined,
	remembered: undefined,
	hasSharedFile: false,
	hasPrivatePool: false,
};
const redisRecord = {store: 'redis', host: 'box', port: 6379, db: 0} as const;
const sharedRecord = {store: 'embedded', directory: '/var/lib/canhazgpu'} as const;

const choose = async (facts: Partial<StoreFacts>, answer: RedisAnswer = 'no-answer') =>
	chooseStore({...nothing, ...facts}, async () => answer);

test('chooseStore uses a requested store without probing Redis', async () => {
	const probe = async (): Promise<RedisAnswer> => {
		throw new Error('probed');
	};

	expect(await chooseStore({...nothing, asked: 'redis', recorded: sharedRecord}, probe)).toEqual({kind: 'redis'});
	expect(await chooseStore({...nothing, isRedisGiven: true, hasPrivatePool: true}, probe)).toEqual({kind: 'redis'});
});

test('chooseStore prefers the recorded pool to every automatic choice', async () => {
	expect(await choose({recorded: sharedRecord, hasPrivatePool: true}, 'pool')).toEqual({
		kind: 'shared',
		directory: sharedRecord.directory,
	});
	expect(await choose({recorded: redisRecord})).toEqual({kind: 'redis', record: redisRecord});
	expect(await choose({asked: 'embedded', recorded: sharedRecord})).toMatchObject({kind: 'shared'});
});

test('chooseStore prefers Redis with a pool to a private pool, and a private pool to none', async () => {
	expect(await choose({hasPrivatePool: true}, 'pool')).toEqual({kind: 'redis'});
	expect(await choose({hasPrivatePool: true}, 'no-pool')).toEqual({kind: 'private'});
	expect(await choose({}, 'no-answer')).toEqual({kind: 'none'});
	expect(await choose({asked: 'embedded', hasPrivatePool: true})).toEqual({kind: 'private'});
	expect(await choose({asked: 'embedded'})).toEqual({kind: 'none'});
});

test('chooseStore never replaces a recorded Redis that is down with a private pool', async () => {
	for (const answer of ['no-answer', 'no-pool'] as const) {
		expect(await choose({remembered: redisRecord, hasPrivatePool: true}, answer)).toEqual({
			kind: 'redis',
			record: redisRecord,
		});
	}
});

test('chooseStore uses no other embedded pool while the shared directory has a pool that is not recorded', async () => {
	for (const asked of [undefined, 'embedded'] as const) {
		expect(await choose({asked, hasSharedFile: true, hasPrivatePool: true}, 'no-pool')).toEqual({kind: 'unrecorded'});
	}

	expect(await choose({hasSharedFile: true}, 'pool')).toEqual({kind: 'redis'});
	expect(await choose({hasSharedFile: true, remembered: redisRecord})).toMatchObject({kind: 'redis'});
	expect(await choose({hasSharedFile: true, recorded: redisRecord})).toMatchObject({kind: 'redis'});
});

test('chooseStore refuses a private pool while a shared pool exists', async () => {
	expect(await choose({asked: 'embedded', hasPrivatePool: true}, 'pool')).toEqual({
		kind: 'private-refused',
		because: 'redis',
	});
	expect(await choose({asked: 'embedded', recorded: redisRecord})).toEqual({
		kind: 'private-refused',
		because: redisRecord,
	});
});

test('chooseStore refuses a private pool while a remembered or configured Redis does not answer', async () => {
	for (const hasPrivatePool of [false, true]) {
		expect(await choose({asked: 'embedded', remembered: redisRecord, hasPrivatePool})).toEqual({
			kind: 'private-refused',
			because: redisRecord,
		});
		expect(await choose({asked: 'embedded', isRedisGiven: true, hasPrivatePool})).toEqual({
			kind: 'private-refused',
			because: 'redis',
		});
	}

	expect(await choose({asked: 'embedded', isRedisGiven: true, recorded: sharedRecord})).toMatchObject({kind: 'shared'});
	expect(await choose({asked: 'embedded', remembered: redisRecord, hasPrivatePool: true}, 'no-pool')).toEqual({
		kind: 'private',
	});
});

test('chooseStore never overlooks a shared pool that is recorded or found in Redis, for any settings', async () => {
	const record = fc.constantFrom(undefined, redisRecord, sharedRecord);
	await fc.assert(
		fc.asyncProperty(
			fc.constantFrom(undefined, 'embedded' as const, 'redis' as const),
			record,
			record,
			fc.boolean(),
			fc.constantFrom<RedisAnswer>('pool', 'no-pool', 'no-answer'),
			async (asked, recorded, remembered, hasPrivatePool, answer) => {
				const {kind} = await choose({asked, recorded, remembered, hasPrivatePool}, answer);
				if (recorded !== undefined || answer === 'pool') {
					expect(['private', 'none']).not.toContain(kind);
				}
			},
		),
	);
});
