import {afterEach, expect, test} from 'vitest';
import {emptyPlan} from '../../../source/core/model/plan.js';
import {endSession, startMonitor, type Session} from '../_harness.js';
import {createIdleBox, warned} from '../_idle.js';
import {createBox, lease, sceneTime, type Box} from '../_world.js';

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

const size = {columns: 120, rows: 32};

const leasesIn = async ({store}: Box) =>
	(await store.read()).gpus.map((record) => (record.kind === 'leased' ? record.lease : undefined));

test("the key E keeps exactly those of the user's GPUs that would go back to the pool", async () => {
	const leases = {
		0: warned('alice'),
		1: warned('alice', 12, {leaseId: 'second', expiryTime: sceneTime + 1800}),
		2: warned('bob'),
		3: lease('alice', {leaseId: 'used'}),
	};
	const box = await createIdleBox({}, leases);
	session = startMonitor(box, {size});
	await session.shows('E Keep 2h');
	await session.press('3', 'E');
	await session.shows('OK kept GPUs 0,1 for 2h 0m 0s even if idle');
	await session.shows('$ canhazgpu extend --gpu-ids 0,1 --keep 2h');
	await session.hides('E Keep 2h');
	const kept = sceneTime + 7200;
	expect((await leasesIn(box)).map((each) => [each?.keepUntil, each?.expiryTime, each?.idle?.deadline])).toEqual([
		[kept, leases[0].expiryTime, undefined],
		[kept, kept, undefined],
		[undefined, leases[2].expiryTime, leases[2].idle!.deadline],
		[undefined, leases[3].expiryTime, undefined],
	]);
	await session.press('1');
	await session.shows(/0 +Mine .*kept until 16:32/v);
});

test('the key E explains why it does nothing if no GPU would go back to the pool', async () => {
	const box = await createBox(1, {leases: {0: lease('alice')}});
	session = startMonitor(box, {size});
	await session.shows(/> 0 +Mine/v);
	await session.press('E');
	await session.shows(
		'WARN None of your GPUs is about to go back to the pool. To keep GPUs in advance, type :extend --keep 2h',
	);
	expect((await leasesIn(box))[0]?.keepUntil).toBeUndefined();
});

test('the key E shows the reason if the policy no longer allows the duration', async () => {
	const box = await createIdleBox();
	session = startMonitor(box, {size});
	await session.shows('E Keep 2h');
	const policy = new Map([
		['idle.after', {value: '1h', since: sceneTime}],
		['idle.keep-max', {value: '30m', since: sceneTime}],
	]);
	// The change has no event, so the monitor notices it only when the key is pressed.
	await box.store.commit({...emptyPlan, writes: [{kind: 'policy', policy}]});
	await session.press('E');
	await session.shows('ERR --keep can be at most 30m in this pool');
	expect((await leasesIn(box))[0]?.keepUntil).toBeUndefined();
});
