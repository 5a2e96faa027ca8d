/** Observers that see only a part of the processes, and observers that come after the clock was set forward. */
import {describe, expect, test} from 'vitest';
import type {GpuReading} from '../../../../source/core/model/types.js';
import {createReclaimer} from '../../../../source/core/operations/reclaim.js';
import {idleReading, observationOf} from '../../../_helpers/world.js';
import {createIdleBox, minute, usedReading} from './_idle.js';

const always = {'idle.after': '30m', 'idle.when': 'always'} as const;

const hidden = [0, 1, 2, 3].map((index): GpuReading => ({...idleReading(index), processes: undefined}));

type IdleBox = Awaited<ReturnType<typeof createIdleBox>>;

/** A program that looks at the pool, with what it sees. */
function createObserver({world}: IdleBox, host = world.host) {
	const reclaimer = createReclaimer({...world, host});
	return async (gpus: readonly GpuReading[]): Promise<void> => {
		await reclaimer.look(await world.memory.read(), observationOf(gpus, {takenAtMs: world.clock.monotonicMs()}));
	};
}

describe('an observer that never saw the processes', () => {
	test('does not restart the idle time that another observer has counted', async () => {
		const box = await createIdleBox(always);
		const look = createObserver(box);
		for (let passed = 0; passed < 51; passed++) {
			await box.lookFor(1);
			await look(hidden);
		}

		expect(await box.kinds()).toEqual(['idle', 'ended reclaimed']);
	});

	test('does not restart the idle time in a container, where memory is in use without a visible process', async () => {
		const box = await createIdleBox(always);
		const self = {...box.world.host.self, namespace: '4026532270'};
		const look = createObserver(box, {...box.world.host, self});
		for (let passed = 0; passed < 51; passed++) {
			await box.lookFor(1);
			await look([0, 1, 2, 3].map((index) => ({...idleReading(index), memoryUsedMiB: 450})));
		}

		expect(await box.kinds()).toEqual(['idle', 'ended reclaimed']);
	});

	test('neither starts nor continues an idle time, and reclaims nothing', async () => {
		const box = await createIdleBox(always);
		const look = createObserver(box);
		await look(hidden);
		expect(await box.idleOf(0)).toBeUndefined();
		await box.lookFor(51 - 1);
		expect(await box.kinds()).toEqual(['idle']);
		for (let passed = 0; passed < 10; passed++) {
			box.world.pass(minute);
			await look(hidden);
		}

		// Nobody saw everything for more than five minutes, so the warning is withdrawn.
		expect(await box.kinds()).toEqual(['idle', 'idle unknown']);
		expect(await box.holders()).toEqual(['alice', 'alice', undefined, undefined]);
	});

	test('ends the idle time when a GPU is in use', async () => {
		const box = await createIdleBox(always);
		const look = createObserver(box);
		await box.lookFor(40);
		await look([{...usedReading(0), processes: undefined}, ...hidden.slice(1)]);
		expect(await box.kinds()).toEqual(['idle', 'idle used']);
	});

	test('ends the idle time when another reading is unknown as well', async () => {
		const box = await createIdleBox(always);
		const look = createObserver(box);
		await box.lookFor(40);
		await look([{...hidden[0]!, unknown: {isMigEnabled: '[Unknown Error]'}}, ...hidden.slice(1)]);
		expect(await box.kinds()).toEqual(['idle', 'idle unknown']);
	});
});

test('an observer that saw the processes earlier ends the idle time when the processes become hidden', async () => {
	const box = await createIdleBox(always);
	const look = createObserver(box);
	await box.lookFor(40);
	await look([0, 1, 2, 3].map((index) => idleReading(index)));
	await look(hidden);
	expect(await box.kinds()).toEqual(['idle', 'idle unknown']);
});

test('a clock that was set forward does not shorten the grace period for an observer that starts later', async () => {
	const box = await createIdleBox(always);
	await box.lookFor(31);
	expect(await box.kinds()).toEqual(['idle']);
	box.world.jump(230);
	const look = createObserver(box);
	for (let passed = 0; passed < 19; passed++) {
		box.world.pass(minute);
		await look([0, 1, 2, 3].map((index) => idleReading(index)));
	}

	expect(await box.kinds()).toEqual(['idle']);
	box.world.pass(minute);
	await look([0, 1, 2, 3].map((index) => idleReading(index)));
	expect(await box.kinds()).toEqual(['idle', 'ended reclaimed']);
});
