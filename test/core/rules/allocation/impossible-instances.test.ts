import {describe, expect, test} from 'vitest';
import {requirePossible} from '../../../../source/core/rules/allocation/impossible.js';
import {eligibilityOf} from '../../../../source/core/rules/allocation/need.js';
import {checkWanted, type Wanted} from '../../../../source/core/rules/request/request.js';
import type {GpuReading} from '../../../../source/core/model/types.js';
import {CanhazgpuError} from '../../../../source/errors.js';
import {splitReading} from '../../../_helpers/mig-box.js';
import {idleReading, observationOf} from '../../../_helpers/world.js';

/** GPU 0 is not in MIG mode. The others are. */
const box = [idleReading(0), splitReading(1, ['1g.10gb', '1g.10gb', '3g.40gb']), splitReading(2, [])];

function said(wanted: Wanted, gpus: readonly GpuReading[] = box): readonly unknown[] | undefined {
	const observation = observationOf(gpus);
	try {
		const checked = checkWanted(wanted, gpus.length);
		const eligibility = eligibilityOf(checked, observation, gpus.length);
		requirePossible(checked, {eligibility, observation, gpuCount: gpus.length});
		return undefined;
	} catch (error) {
		expect(error).toBeInstanceOf(CanhazgpuError);
		const {message, hint, exitCode} = error as CanhazgpuError;
		return [exitCode, message, hint];
	}
}

const named = (gpu: number, number: number): Wanted => ({count: 1, need: {mig: {instances: [{gpu, number}]}}});
const ofProfile = (profile: string, count = 1): Wanted => ({count, need: {mig: {profile}}});
const instances = '1:0 (1g.10gb), 1:1 (1g.10gb), 1:2 (3g.40gb)';

describe('an impossible request', () => {
	test.each<[string, Wanted, string, string]>([
		['a missing MIG instance', named(1, 9), 'GPU 1 has no MIG instance 1:9', `GPU 1 has the instances ${instances}.`],
		[
			'an instance of a GPU without MIG mode',
			named(0, 1),
			'GPU 0 is not split by MIG: there is no instance 0:1',
			'Ask for the whole GPU: --gpu-ids 0',
		],
		[
			'an instance of a GPU without instances',
			named(2, 0),
			'GPU 2 has no MIG instance 2:0',
			'It has no instances yet. An administrator can create them with nvidia-smi mig.',
		],
		[
			'a whole GPU that is in MIG mode',
			{count: 1, ids: [1]},
			'GPU 1 is split by MIG, so it cannot be reserved whole',
			`Its instances are ${instances}. Name one: --gpu-ids 1:0, or a profile: --mig 1g.10gb`,
		],
		[
			'a profile that is too large',
			ofProfile('7g.80gb'),
			'No MIG instance of this pool is 7g.80gb or larger',
			'The pool has 2 of 1g.10gb, 1 of 3g.40gb.',
		],
		[
			'too many instances of a profile',
			ofProfile('1g.10gb', 4),
			'Cannot reserve 4 MIG instances of 1g.10gb or larger: this pool has 3',
			'The pool has 2 of 1g.10gb, 1 of 3g.40gb.',
		],
		[
			'an instance named twice',
			{
				count: 2,
				need: {
					mig: {
						instances: [
							{gpu: 1, number: 1},
							{gpu: 1, number: 1},
						],
					},
				},
			},
			'Instance 1:1 is named twice in 1:1,1:1',
			'Name each instance once.',
		],
		['an instance of a missing GPU', named(7, 1), 'GPU 7 is out of range', 'The pool has 3 GPU(s): ids are 0 to 2.'],
	])('is rejected with alternatives for %s', (_, wanted, message, hint) => {
		expect(said(wanted)).toEqual([2, message, hint]);
	});

	test('is rejected with a list of MIG instances and GPUs if the requested model has no MIG instance', () => {
		const gpus = 'The GPUs: 3 Test GPU of 80 GiB.';
		const of = ({count, need}: Wanted): Wanted => ({count, need: {...need, models: ['a100']}});
		const instancesThere = `The pool has 2 of 1g.10gb, 1 of 3g.40gb. ${gpus}`;
		const words = 'No GPU of model a100 in this pool has a MIG instance of 1g.10gb or larger';
		expect(said(of(ofProfile('1g.10gb')))).toEqual([2, words, instancesThere]);
		expect(said(of(named(1, 1)))).toEqual([2, 'MIG instance 1:1 belongs to no GPU of model a100', gpus]);
		const two = {count: 2, need: {mig: {instances: [0, 1].map((number) => ({gpu: 1, number}))}}};
		expect(said(of(two))).toEqual([2, 'MIG instances 1:0 1:1 do not all belong to GPUs of model a100', gpus]);
		const other = {...splitReading(1, ['1g.10gb', '1g.10gb']), name: 'NVIDIA A100'};
		expect(said(of(ofProfile('1g.10gb', 3)), [splitReading(0, ['1g.10gb']), other])).toEqual([
			2,
			'Cannot reserve 3 MIG instances of 1g.10gb or larger, on GPUs of model a100: this pool has 2',
			'The pool has 3 of 1g.10gb. The GPUs: 1 Test GPU of 80 GiB, 1 A100 of 80 GiB.',
		]);
	});

	test('is rejected with a suggested MIG instance if it asks for more whole GPUs than exist', () => {
		expect(said({count: 2})).toEqual([
			2,
			'Cannot reserve 2 GPUs of one model: this pool has at most 1',
			'The pool has 1 Test GPU of 80 GiB not split by MIG. On a GPU that is split by MIG, ask for an instance: --mig 1g.10gb.',
		]);
	});

	test('is rejected with a message that does not count a GPU of unknown MIG mode as whole', () => {
		const pending = {...idleReading(1), isMigEnabled: false, isMigPending: true};
		expect(said({count: 3}, [idleReading(0), pending, splitReading(2, ['1g.10gb'])])).toEqual([
			2,
			'Cannot reserve 3 GPUs of one model: this pool has at most 2',
			'The pool has 1 Test GPU of 80 GiB not split by MIG. Whether GPU 1 can be reserved whole is unknown. On a GPU that is split by MIG, ask for an instance: --mig 1g.10gb.',
		]);
	});

	test('for a whole GPU or a share is rejected with a suggested MIG instance if all GPUs are in MIG mode', () => {
		for (const need of [undefined, {shareMiB: 1000}]) {
			expect(said({count: 1, need}, [splitReading(0, ['1g.10gb'])])).toEqual([
				2,
				'Every GPU of this pool is split by MIG, so only instances can be reserved',
				'On a GPU that is split by MIG, ask for an instance: --mig 1g.10gb.',
			]);
		}
	});

	test('for a MIG instance is rejected if no GPU is in MIG mode', () => {
		expect(said(ofProfile('1g.10gb'), [idleReading(0)])).toEqual([
			2,
			'No GPU of this pool is split by MIG',
			expect.any(String),
		]);
	});

	test('is not rejected while an unknown reading could make the request possible', () => {
		for (const part of [{migInstances: undefined}, {isMigPending: true}]) {
			expect(said(ofProfile('7g.80gb'), [{...box[1]!, ...part, index: 0}])).toBeUndefined();
		}

		expect(
			said({count: 1, ids: [0]}, [{...idleReading(0), unknown: {isMigEnabled: '[Unknown Error]'}}]),
		).toBeUndefined();
	});
});
