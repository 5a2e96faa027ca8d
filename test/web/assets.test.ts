import {brotliDecompressSync, gunzipSync} from 'node:zlib';
import {expect, test} from 'vitest';
import {bytesOf, pageFiles} from '../../source/web/server/assets.js';

test('every page file is identical in each encoding, and smaller in Brotli than in gzip', () => {
	expect(pageFiles.length).toBeGreaterThan(20);
	for (const file of pageFiles) {
		const [br, gzip, plain] = [bytesOf(file, 'br'), bytesOf(file, 'gzip'), bytesOf(file, undefined)];
		expect([file.path, brotliDecompressSync(br).equals(plain)]).toEqual([file.path, true]);
		expect([file.path, gunzipSync(gzip).equals(plain)]).toEqual([file.path, true]);
		expect([file.path, br.length < gzip.length]).toEqual([file.path, true]);
	}
});
