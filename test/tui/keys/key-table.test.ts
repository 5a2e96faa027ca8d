import {expect, test} from 'vitest';
import {keyTable} from './_key-table.js';

test('each key has the effect that key-table.txt lists, and is disabled for the listed reasons', async () => {
	await expect(await keyTable()).toMatchFileSnapshot('key-table.txt');
});
