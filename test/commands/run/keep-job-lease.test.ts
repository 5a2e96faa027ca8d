import {expect, test} from 'vitest';
import type {App, Notices, OpenWorld} from '../../../source/app/contract.js';
import {keepJobLease} from '../../../source/commands/shared/job/keep-job-lease.js';
import {acquireNow} from '../../../source/core/operations/acquire-now.js';
import {findJobLease} from '../../../source/core/operations/job-lease.js';
import {closePool} from '../../../source/core/operations/pool/create-pool.js';
import {createVirtualClock} from '../../_helpers/virtual-clock.js';
import {createTestWorld, person} from '../../_helpers/world.js';

const notices: Notices = {
	sender: {reachesAll: false},
	settings: {events: [], targets: []},
	test: async () => [],
	checks: () => [],
};

test('a job prints one warning after its pool was moved, and ends without retrying the release', async () => {
	let reads = 0;
	const world = await createTestWorld({
		wrap: (store) => ({
			...store,
			async read(options) {
				reads++;
				return store.read(options);
			},
		}),
	});
	const requester = person('alice');
	await acquireNow(world, {requester, count: 1, tenure: {type: 'run'}}, 'lease-a');
	const granted = await findJobLease(world, 'lease-a');
	const clock = createVirtualClock();
	const remarks: string[] = [];
	const app: Partial<App> = {
		clock,
		remark(text) {
			remarks.push(text);
		},
		requester: () => requester,
		loadAhead: async () => undefined,
		loadNotices: async () => notices,
		notify: async () => [],
	};
	const open: Partial<OpenWorld> = {...world, clock};
	const keeper = keepJobLease(app as App, open as OpenWorld, {
		granted,
		job: {pid: 2, startTicks: 22},
		model: undefined,
	});
	await clock.pass(10);
	expect(remarks).toEqual([]);

	await closePool(world, 'redis localhost:6379/1');
	await clock.pass(10);
	const readsUntilWarning = reads;
	await clock.pass(30);
	expect(reads).toBeGreaterThan(readsUntilWarning);
	expect(remarks).toEqual([
		`canhazgpu: WARNING: the command continues without its reservation: The pool that was in ${world.store.location} is in redis localhost:6379/1 now`,
	]);

	// The clock stands still, so a retry would never end.
	await keeper.end('exited', []);
	expect(remarks).toHaveLength(1);
});
