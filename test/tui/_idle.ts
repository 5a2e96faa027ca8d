/** A box whose idle reservations go back to the pool. */
import type {Lease} from '../../source/core/model/types.js';
import {createBox, gpuReading, lease, sceneTime, waiter, type Box} from './_world.js';

const minute = 60;

/** A lease that is idle for an hour, and goes back in `minutes`. */
export const warned = (user: string, minutes = 12, more: Partial<Lease> = {}): Lease =>
	lease(user, {
		startTime: sceneTime - 5 * 3600,
		idle: {
			since: sceneTime - 3600,
			seen: sceneTime,
			warned: sceneTime - 8 * minute,
			deadline: sceneTime + minutes * minute,
			remindedOf: sceneTime + minutes * minute,
		},
		...more,
	});

const usualLeases: Readonly<Record<number, Lease>> = {
	0: warned('alice'),
	1: warned('alice'),
	2: warned('bob', -1),
	3: lease('carol', {startTime: sceneTime - 7200, keepUntil: sceneTime + 3600}),
};

/** Creates a box with two idle GPUs of alice, whose warning still runs, one of bob, whose warning has ended, and one that carol keeps. */
export async function createIdleBox(policy: Readonly<Record<string, string>> = {}, leases = usualLeases): Promise<Box> {
	const box = await createBox(4, {
		leases,
		readings: [0, 1, 2, 3].map((index) => gpuReading(index)),
		waiting: [waiter('erin', {requestedIds: [0]})],
	});
	await box.write({
		kind: 'policy',
		policy: new Map(
			Object.entries({'idle.after': '1h', ...policy}).map(([key, value]) => [key, {value, since: sceneTime}]),
		),
	});
	// Idle times that began before the store was created do not count, so the store must be older.
	const [count, base, since, run] = box.store.state.revision!.split(' ', 4);
	box.store.state.revision = [count, base, Number(since) - 86_400, run].join(' ');
	return box;
}
