import {expect, test} from 'vitest';
import {GpuSentence} from '../../../source/tui/screens/gpu-sentences.js';
import {drawn} from '../_drawn.js';
import {stateOf} from '../_harness.js';
import {createBox, gpuReading, lease, run, sceneTime} from '../_world.js';
import {heldRow, shareRow, statusRow} from '../panels/_rows.js';

const state = await stateOf(await createBox(2), {columns: 200, rows: 30}, {isLinear: true});

const train = {pid: 1, user: 'bob', commandLine: 'train --lr 1', memoryUsedMiB: 900};
const unread = gpuReading(1, {utilizationPercent: undefined, memoryUsedMiB: undefined, failure: 'lost'});
const loaded = gpuReading(1, {utilizationPercent: 84, memoryUsedMiB: 61_645, temperatureCelsius: 81});
const xid = {kind: 'xid', words: 'Xid 79\u{1B}[31m'} as const;

test.each([
	[
		'a selected free GPU',
		statusRow({reading: gpuReading(0)}),
		'Selected: GPU 0, Free, utilization about 0 percent, memory 0G of 80G',
	],
	[
		'a busy GPU',
		heldRow(run('bob'), {index: 1, reading: loaded, use: {kind: 'used'}, processes: [train]}),
		'GPU 1, Reserved, bob, ends on-exit, utilization about 80 percent, memory 60G of 80G, hot, train --lr 1',
	],
	[
		'a reservation that ends within a minute',
		heldRow(lease('alice', {expiryTime: sceneTime + 5}), {index: 1}),
		'GPU 1, Mine, alice, ends in 1m, utilization unknown, memory unknown',
	],
	[
		'a suspended job',
		heldRow(run('alice', {isSuspended: true}), {index: 1}),
		'GPU 1, Mine, alice, suspended, utilization unknown, memory unknown',
	],
	[
		'a shared GPU',
		statusRow({index: 1, state: 'in-use', use: {kind: 'used'}, shares: [shareRow(lease('bob', {memoryMiB: 8192}))]}),
		'GPU 1, Reserved, 1 shared, utilization unknown, memory unknown, 8G bob 8G',
	],
	[
		'a lost GPU',
		statusRow({index: 1, state: 'error', reading: unread, use: {kind: 'failed', why: 'lost'}, problem: 'lost'}),
		'GPU 1, Error, utilization unknown, memory unknown, lost',
	],
	[
		'a drained GPU',
		statusRow({index: 1, state: 'error', drain: {by: 'root', reason: 'fan', since: 1}, problem: 'drained: fan'}),
		'GPU 1, Drained, utilization unknown, memory unknown, drained by root: fan',
	],
	[
		'a GPU with a health problem',
		statusRow({index: 1, state: 'error', health: [xid], problem: xid.words}),
		'GPU 1, Error, utilization unknown, memory unknown, Xid 79',
	],
] as const)('GpuSentence of %s', (_, row, expected) => {
	expect(drawn(<GpuSentence row={row} />, {state})).toBe(expected);
});

test('GpuSentence has no readings before the first scan', () => {
	const row = statusRow({index: 1, state: 'error', problem: 'not scanned yet'});
	expect(drawn(<GpuSentence row={row} />, {state: {...state, observation: undefined}})).toBe(
		'GPU 1, Unknown, not scanned yet',
	);
});
