import {expect, test} from 'vitest';
import {worldVia} from '../../../source/core/operations/world-via.js';
import {release, reserve} from '../../../source/core/operations/reservations.js';
import {createTestWorld, person} from '../../_helpers/world.js';

test('worldVia records the interface of each action in the audit log, but not for leases that expire', async () => {
	const world = await createTestWorld();
	const marked = worldVia(world, 'web');
	const request = {requester: person('alice'), count: 1, durationSeconds: 60};
	await reserve(world, request);
	world.pass(61);
	// The first reservation has expired, so this call also ends that reservation.
	await reserve(marked, request);
	await release(marked, person('alice'), {by: 'label', label: 'alice'});
	const recorded = (await world.store.audit()).map(({kind, via}) => [kind, via]);
	expect(recorded.slice(-4)).toEqual([
		['granted', undefined],
		['expired', undefined],
		['granted', 'web'],
		['released', 'web'],
	]);
});
