import {expect, test} from 'vitest';
import {keyTable} from './_key-table.js';

test('each key of top has the recorded effect and is disabled for the recorded reasons', async () => {
	await expect(await keyTable()).toMatchFileSnapshot('key-table.txt');
});
