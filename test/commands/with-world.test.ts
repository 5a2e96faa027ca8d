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

test('an error of the work takes precedence over one of closing the pool', async () => {
	const failure = new Error('the work failed');
	await expect(
		withWorld(app, {}, async () => {
			throw failure;
		}),
	).rejects.toBe(failure);
});

test('an error of closing the pool is reported if the work succeeded', async () => {
	await expect(withWorld(app, {}, async () => 0)).rejects.toBe(closing);
});
