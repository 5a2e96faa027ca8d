import {expect, test} from 'vitest';
import {statusRows} from '../../../source/core/rules/pool/status.js';
import type {IdleSpan, Lease} from '../../../source/core/model/types.js';
import {stateWord} from '../../../source/tui/panels/shared/labels.js';
import {observationOf} from '../../_helpers/world.js';
import {alice, busy, createBox, gpuReading, lease, run, sceneTime} from '../_world.js';

const hour = 3600;

/** The STATE of a GPU that bob holds, watched idle for so long. */
async function stateOf(held: Lease, idleSeconds: number | undefined, reading = gpuReading(0)): Promise<string> {
	const {store} = await createBox(1, {leases: {0: held}});
	const idle: readonly IdleSpan[] =
		idleSeconds === undefined ? [] : [{lease: held.leaseId!, index: 0, seconds: idleSeconds, until: sceneTime}];
	const [row] = statusRows(await store.read(), observationOf([reading], {idle}), 1024);
	return stateWord(row!, alice, true).text;
}

const old = lease('bob', {startTime: sceneTime - 7 * hour});
const oldRun = run('bob', {startTime: sceneTime - 7 * hour});

test.each<[string, Lease, number | undefined, string]>([
	['as long as it was watched', old, 6.7 * hour, 'Idle 6h'],
	['days too', old, 50 * hour, 'Idle 2d'],
	['in minutes when it is not long', old, 12 * 60, 'Idle 12m'],
	['without a time when nobody has watched for long', old, 5, 'Idle'],
	['nor when nobody has watched at all', old, undefined, 'Idle'],
	['a reservation gets some time to begin', lease('bob'), 5, 'Reserved'],
	['a job that does nothing', oldRun, hour, 'Idle 1h'],
	['a job that pauses', oldRun, 60, 'Reserved'],
])('%s', async (_, held, idleSeconds, word) => {
	expect(await stateOf(held, idleSeconds)).toBe(word);
});

test('what runs is not idle, whatever anybody has shared', async () => {
	const reading = busy(0, 'bob', 'python train.py', {gibibytes: 10, percent: 0});
	expect(await stateOf(old, 6 * hour, reading)).toBe('Reserved');
});
