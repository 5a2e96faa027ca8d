import {expect, test} from 'vitest';
import {keyTable} from './_key-table.js';

test('each key of top has the effect and the disabled reasons that key-table.txt lists', async () => {
	await expect(await keyTable()).toMatchFileSnapshot('key-table.txt');
});
