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

test('an error of closing the pool does not hide that of the work', async () => {
	const failure = new Error('the work failed');
	await expect(
		withWorld(app, {}, async () => {
			throw failure;
		}),
	).rejects.toBe(failure);
});

test('a pool that cannot be closed after the work is an error', async () => {
	await expect(withWorld(app, {}, async () => 0)).rejects.toBe(closing);
});
