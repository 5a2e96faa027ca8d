import {expect, test} from 'vitest';
import {Drain, Instance, Waiters} from '../../../../source/tui/panels/detail/facts.js';
import {drawn} from '../../_drawn.js';
import {stateOf} from '../../_harness.js';
import {createBox, sceneTime} from '../../_world.js';
import {statusRow} from '../_rows.js';

const state = await stateOf(await createBox(1), {columns: 100, rows: 30});

test.each([
	[80, 'in the queue for it: #1 erin, #2 frank, #3 grace'],
	[44, 'in the queue for it: #1 erin and 2 more'],
	[10, 'in the queue for it: #1 erin and 2 more'],
])('Waiters in %i columns', (width, expected) => {
	expect(drawn(<Waiters names={['#1 erin', '#2 frank', '#3 grace']} width={width} />)).toBe(expected);
});

test.each([
	[
		'with a reason',
		{reason: 'fan \u{1B}[31mred', by: 'root', since: sceneTime - 7200},
		'drained by root: fan red, 2h00m ago',
	],
	['of an unknown time', {by: 'root'}, 'drained by root'],
	['in the future', {since: sceneTime + 60}, 'drained, 0s ago'],
])('Drain, which describes a drained GPU, %s', (_, drain, expected) => {
	expect(drawn(<Drain row={statusRow({drain})} />, {state})).toBe(expected);
});

test.each([
	[
		'with all values',
		{number: 2, profile: '1g.10gb', uuid: 'MIG-1', memoryUsedMiB: 2048, memoryTotalMiB: 10_240},
		'MIG 3:2  1g.10gb  2.0/10G  MIG-1',
	],
	['of an unknown total', {number: 2, memoryUsedMiB: 2048}, 'MIG 3:2  2.0G'],
	['of unknown memory', {number: 2, profile: '1g\u{1B}[0m.10gb', memoryTotalMiB: 10_240}, 'MIG 3:2  1g.10gb  N/A/10G'],
])('Instance %s', (_, instance, expected) => {
	expect(drawn(<Instance gpu={3} instance={instance} />)).toBe(expected);
});
