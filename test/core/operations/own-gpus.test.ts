import {expect, test} from 'vitest';
import {createPool} from '../../../source/core/operations/pool/create-pool.js';
import {onlyForPool} from '../../../source/core/operations/pool/own-gpus.js';
import {reserve} from '../../../source/core/operations/reservations.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {createTestWorld, person} from '../../_helpers/world.js';

test('after the pool was created again for other GPUs, scans fail and nothing is granted', async () => {
	const world = await createTestWorld();
	const gpus = onlyForPool(world.gpus, world.store);
	expect((await gpus.observe()).gpus).toHaveLength(4);
	await createPool(world, {gpuCount: 4, provider: 'nvidia', force: true});
	expect(await gpus.observe()).toMatchObject({
		gpus: [],
		failure: {message: 'The pool has other GPUs (nvidia) than when this program was started (fake).'},
	});
	expect(await reserve({...world, gpus}, {requester: person('alice'), count: 1, durationSeconds: 3600})).toMatchObject({
		kind: 'refused',
		available: 0,
	});
});

test('while the store cannot be read, the GPUs are scanned', async () => {
	const world = await createTestWorld();
	const read = async () => {
		throw new CanhazgpuError('store-unreachable', 'away');
	};

	expect((await onlyForPool(world.gpus, {read}).observe()).gpus).toHaveLength(4);
});
