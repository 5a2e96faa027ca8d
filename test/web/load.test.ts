/** A small run of the dashboard's benchmark, `npm run bench -- web`. */
import {mkdirSync} from 'node:fs';
import {expect, onTestFinished} from 'vitest';
import {slowTest} from '../_helpers/slow.js';
import {createBox} from '../_helpers/program/cli.js';
import {bearLoad} from './_load.js';

slowTest('50 streams and 200 requests share one scan every two seconds, and one scan for each change', async () => {
	const box = createBox({CANHAZGPU_STORE: 'embedded'});
	onTestFinished(box.remove);
	mkdirSync(box.poolDirectory);
	const seconds = 4;
	const borne = await bearLoad(box, {seconds, streamCount: 50, requestsPerSecond: 50, gpuCount: 4});
	expect(borne).toMatchObject({failed: [], scansAtOnce: 1, streamsAtOnce: 1});
	expect(borne.took).toHaveLength(200);
	expect(borne.changes).toBeGreaterThan(1);
	// The last second belongs to the last change.
	expect(borne.scans).toBeGreaterThan(1);
	expect(borne.scans).toBeLessThanOrEqual((seconds + 1) / 2 + borne.changes + 2);
	expect(borne.readings).toBeGreaterThan(0);
	expect(Math.min(...borne.events)).toBe(Math.max(...borne.events));
	expect(Math.min(...borne.events)).toBeGreaterThan(2);
	expect(borne.mostMiB).toBeLessThan(200);
});
