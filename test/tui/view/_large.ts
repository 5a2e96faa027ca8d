/** A large box: 64 GPUs of two models, some leased, some in use, and a queue. */
import type {Lease} from '../../../source/core/model/types.js';
import {busy, createBox, gpuReading, lease, run, sceneTime, waiter, type Box} from '../_world.js';

const gpuCount = 64;

const people = ['alice', 'bob', 'carol', 'dave'] as const;

function leaseOf(index: number): Lease | undefined {
	const person = people[Math.floor(index / 8) % people.length]!;
	const since = {startTime: sceneTime - 600 * (index + 1), leaseId: `lease-${Math.floor(index / 8)}`};
	return index % 8 === 7 ? undefined : index % 16 < 8 ? run(person, since) : lease(person, since);
}

export const createLarge = async ({isMixed = false} = {}): Promise<Box> =>
	createBox(gpuCount, {
		leases: Object.fromEntries(
			Array.from({length: gpuCount}, (_, index) => [index, leaseOf(index)] as const).filter(
				(held): held is readonly [number, Lease] => held[1] !== undefined,
			),
		),
		readings: Array.from({length: gpuCount}, (_, index) => {
			const held = leaseOf(index);
			const reading =
				held === undefined
					? gpuReading(index, {temperatureCelsius: 35})
					: busy(index, held.user, 'python train.py', {gibibytes: 10 + (index % 60), percent: (index * 7) % 100});
			return isMixed && index >= 32 ? {...reading, name: 'NVIDIA A100-SXM4-40GB', memoryTotalMiB: 40_960} : reading;
		}),
		waiting: [
			waiter('erin', {requestedCount: 8, enqueueTime: sceneTime - 1330}),
			waiter('frank', {requestedIds: [4, 5], requestedCount: 2, enqueueTime: sceneTime - 190}),
		],
	});
