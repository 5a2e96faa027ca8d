/** What the dashboard says about reservations that go back to the pool, went back, or are parked. */
import {expect, onTestFinished, test} from 'vitest';
import {startLiveView, type LiveState} from '../../source/core/live/live-view.js';
import type {AuditEntry, Lease} from '../../source/core/model/types.js';
import {statusRows} from '../../source/core/rules/pool/status.js';
import {queueRows} from '../../source/core/rules/queue/queue-rows.js';
import {createEncoder} from '../../source/web/api/live-json.js';
import {contextOf, gpuJson, waitersJson} from '../../source/web/api/status-json.js';
import {ownLeasesOn} from '../../source/web/page/act/ownership.js';
import {idleText} from '../../source/web/page/text.js';
import {eventually} from '../_helpers/eventually.js';
import {createLiveWorld, liveViewOptions} from '../_helpers/live-world.js';
import {entryRecord, idleReading, observationOf, snapshotWith} from '../_helpers/world.js';

const now = 1_800_000_000;

const policy = new Map(
	Object.entries({'idle.after': '1h', 'limits.max-gpus': '1', 'limits.slack': 'on'}).map(([key, value]) => [
		key,
		{value, since: 0},
	]),
);

const leased = (index: number, lease: Partial<Lease>) => ({
	kind: 'leased' as const,
	index,
	raw: '',
	lease: {user: 'ada', type: 'manual' as const, startTime: now - 4 * 3600, expiryTime: now + 7200, ...lease},
});

const live = async (): Promise<LiveState> => {
	const world = await createLiveWorld(2);
	const view = startLiveView(
		world,
		liveViewOptions((error) => {
			throw error;
		}),
	);
	onTestFinished(view.stop);
	await eventually(() => view.current().rows.length === 2);
	return view.current();
};

test('cards show parked GPUs, and GPUs beyond a limit, for which Keep is not offered', async () => {
	const snapshot = snapshotWith({
		now,
		policy,
		gpus: [
			leased(0, {leaseId: 'a', parked: {since: now - 3 * 3600, seen: now}}),
			leased(1, {leaseId: 'b', startTime: now - 60, slack: {warned: now - 60, deadline: now + 600}}),
		],
		queue: [entryRecord('bob')],
	});
	const parked = {...idleReading(0), memoryUsedMiB: 20_000};
	const rows = statusRows(snapshot, observationOf([parked, idleReading(1)]), 1024);
	const context = contextOf({...(await live()), snapshot}, 'full');
	const [first, second] = rows.map((row) => gpuJson(row, context));
	expect(first).toMatchObject({parked_since: '2027-01-15T05:00:00Z', beyond_limit: undefined});
	expect(second).toMatchObject({beyond_limit: true, reclaim_at: '2027-01-15T08:10:00Z', parked_since: undefined});
	expect(idleText(first!, now * 1000)).toMatch(/^parked since \d\d:\d\d$/v);
	expect(idleText(second!, now * 1000)).toMatch(/^beyond its limit, goes back at \d\d:\d\d$/v);
	expect(ownLeasesOn(second!, [first!, second!], 'ada')).toMatchObject([{leaseId: 'b', goesBack: false}]);
});

test('the queue says when an idle reservation goes back before its end', async () => {
	const idle = {since: now - 3600, seen: now, warned: now - 60, deadline: now + 600};
	const snapshot = snapshotWith({
		now,
		policy,
		gpus: [leased(0, {leaseId: 'a', idle})],
		queue: [entryRecord('one', {user: 'bob', lastHeartbeat: now})],
	});
	expect(waitersJson({...(await live()), snapshot, queue: queueRows(snapshot)})).toMatchObject([
		{reclaim_at: '2027-01-15T08:10:00Z', served_at: '2027-01-15T10:00:00Z'},
	]);
});

test('a page that acts for an account warns for an hour that its reservation went back', async () => {
	const state = await live();
	const event = (account: string, secondsAgo: number): AuditEntry => ({
		id: `${secondsAgo}-0`,
		time: state.now - secondsAgo,
		kind: 'ended',
		account,
		gpus: [0, 1],
		reason: 'reclaimed',
	});
	const about = (actsAs: string | undefined) => ({
		host: 'box',
		version: '1',
		location: 'memory',
		privateLabel: undefined,
		isDemo: false,
		hosts: ['box'],
		hasPool: true,
		actsAs,
	});
	const warningsFor = (actsAs: string | undefined): unknown => {
		const events = [event('ada', 3700), event('bob', 120), event('ada', 60)];
		const encoder = createEncoder({...state, events}, () => about(actsAs), 'full');
		return (JSON.parse(encoder.whole(state.now)) as {readonly warnings: unknown}).warnings;
	};

	expect(warningsFor('ada')).toEqual(['your reservation of GPUs 0,1 was idle and went back to the pool']);
	expect(warningsFor(undefined)).toEqual([]);
});
