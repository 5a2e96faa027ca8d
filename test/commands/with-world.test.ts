import {expect, test} from 'vitest';
import type {OpenWorld} from '../../source/app/contract.js';
import {withWorld} from '../../source/commands/shared/with-world.js';

const closing = new Error('cannot be closed');
const world: Pick<OpenWorld, 'close'> = {
	async close() {
		throw closing;
	},
};
const app = {open: async () => world as OpenWorld};

test('withWorld rejects with the error of its callback even if closing the pool also fails', async () => {
	const failure = new Error('the work failed');
	await expect(
		withWorld(app, {}, async () => {
			throw failure;
		}),
	).rejects.toBe(failure);
});

test('withWorld rejects with the error of closing the pool if its callback succeeded', async () => {
	await expect(withWorld(app, {}, async () => 0)).rejects.toBe(closing);
});
