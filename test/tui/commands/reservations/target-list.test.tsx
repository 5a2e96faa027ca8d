import {expect, test} from 'vitest';
import {OtherReservations, TargetList} from '../../../../source/tui/commands/reservations/target-list.js';
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

test('OtherReservations shows commands for two other parts of a GPU, and counts the others', async () => {
	const leases = [0, 1, 2, 3].map((number) =>
		lease('alice', {mig: {uuid: `MIG-0-${number}`, number}, leaseId: `lease-${number}`}),
	);
	const split = await createBox(1);
	await split.write({kind: 'shares', index: 0, shares: leases});
	const others = (
		<OtherReservations action="release" targets={[part(0, leases[0])]} leftOut={[]} namedLeaseId="lease-0" />
	);
	expect(drawn(others, {state: await stateOf(split, {columns: 100, rows: 24})})).toBe(
		lines(
			'Also yours here: MIG instance 0:1. For it: canhazgpu release --gpu-ids 0 --lease lease-1',
			'Also yours here: MIG instance 0:2. For it: canhazgpu release --gpu-ids 0 --lease lease-2',
			'and 1 more reservation (canhazgpu status --json shows the ids)',
		),
	);
	expect(drawn(others, {state: await stateOf(split, {columns: 100, rows: 15})})).toBe(
		'Also yours here: 3 more reservations (canhazgpu status --json shows the ids)',
	);
});
