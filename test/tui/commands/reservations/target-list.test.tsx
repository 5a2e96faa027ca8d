import {expect, test} from 'vitest';
import {TargetList} from '../../../../source/tui/commands/reservations/target-list.js';
import {drawn, lines} from '../../_drawn.js';
import {stateOf} from '../../_harness.js';
import {createBox, lease, run, sceneTime} from '../../_world.js';

const box = await createBox(1);
const state = await stateOf(box, {columns: 80, rows: 24});
const low = await stateOf(box, {columns: 80, rows: 15});

const part = (index: number, held = lease('alice')) => ({index, lease: held});
const job = run('carol', {startTime: sceneTime - 3600});
const limited = run('carol', {startTime: sceneTime - 60, endsBy: sceneTime + 720});

test.each([
	['a reservation', part(3), 'alice, MANUAL, held 5m, ends in 4h00m'],
	[
		'a reservation without an end',
		part(3, {...lease('alice'), expiryTime: undefined}),
		'alice, MANUAL, held 5m, ends with its job',
	],
	['a job', part(3, job), 'carol, RUN, held 1h00m, ends with its job'],
	['a job with a time limit', part(3, limited), 'carol, RUN, held 1m, ends with its job, in 12m at the latest'],
])('TargetList of %s describes it without naming its GPU', (_, target, expected) => {
	expect(drawn(<TargetList targets={[target]} leftOut={[]} />, {state})).toBe(expected);
});

test('TargetList groups GPUs by reservation, and lists GPUs that are left out', () => {
	const list = (
		<TargetList
			targets={[part(0), part(1), part(4, job)]}
			leftOut={[
				{index: 2, reason: 'not reserved'},
				{index: 3, reason: 'held by bob'},
			]}
		/>
	);
	expect(drawn(list, {state})).toBe(
		lines(
			'GPUs 0,1  alice, MANUAL, held 5m, ends in 4h00m',
			'GPU 4     carol, RUN, held 1h00m, ends with its job',
			'Left out: 2 not reserved; 3 held by bob',
		),
	);
});

test('TargetList on a low screen counts the groups that do not fit', () => {
	expect(drawn(<TargetList targets={[part(0), part(4, job), part(5, limited)]} leftOut={[]} />, {state: low})).toBe(
		lines('GPU 0  alice, MANUAL, held 5m, ends in 4h00m', 'and 2 GPUs more'),
	);
});
