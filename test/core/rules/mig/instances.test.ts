import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {GpuReading, GpuRecord, InstanceOfGpu, Lease} from '../../../../source/core/model/types.js';
import {judgeInstance} from '../../../../source/core/rules/usage/gpu-usage.js';
import {chooseInstances, instanceCandidateOf} from '../../../../source/core/rules/allocation/instances.js';
import {instancesOf, isGone, isWhole, parseInstanceName} from '../../../../source/core/rules/mig/instances.js';
import {fitsProfile, parseProfile} from '../../../../source/core/rules/mig/profile.js';
import {idleSecondsOf, nextIdle} from '../../../../source/core/rules/usage/idle.js';
import {usageOfShares} from '../../../../source/core/rules/usage/share-usage.js';
import {idleReading} from '../../../_helpers/world.js';
import {splitReading} from '../../../_helpers/mig-box.js';

const profiles = ['1g.5gb', '1g.10gb', '1g.10gb+me', '1c.2g.20gb', '2g.20gb', '3g.40gb', '7g.80gb'];

const heldBy = (user: string, instance: InstanceOfGpu, part: Partial<Lease> = {}): Lease => {
	const {gpu: _, ...mig} = instance;
	return {user, actualUser: user, type: 'manual', startTime: 1, leaseId: user, mig, ...part};
};

describe('a MIG profile', () => {
	test.each([
		['1g.10gb', '1g.10gb', true],
		['3g.40gb', '1g.10gb', true],
		['1g.10gb', '3g.40gb', false],
		['1g.5gb', '1g.10gb', false],
		['1g.10gb+me', '1g.10gb', true],
		['1g.10gb', '1g.10gb+me', false],
		['1c.2g.20gb', '2g.20gb', false],
		['2g.20gb', '1c.2g.20gb', true],
		['strange', 'STRANGE', true],
		['strange', '1g.10gb', false],
	])('of %s satisfies a request for %s: %s', (has, wanted, fits) => {
		expect(fitsProfile(has, wanted)).toBe(fits);
	});

	test('is parsed in upper or lower case', () => {
		expect(parseProfile(' 1G.10GB ')).toBe('1g.10gb');
		expect(['9', '1g', '10gb', '1g10gb', '1g.10gb,2g.20gb', ''].map((text) => parseProfile(text))).toEqual(
			Array.from({length: 6}, () => undefined),
		);
	});
});

test('parseInstanceName requires a GPU number and an instance number', () => {
	expect(parseInstanceName('3:12')).toEqual({gpu: 3, number: 12});
	expect(['3', '3:', ':1', '3:1:0', 'a:1', '3:-1'].map((text) => parseInstanceName(text))).toEqual(
		Array.from({length: 6}, () => undefined),
	);
});

describe('the MIG instances of a GPU', () => {
	const split = splitReading(0, ['1g.10gb']);

	test.each<[string, Partial<GpuReading>, boolean | undefined, number | undefined]>([
		['in MIG mode', {}, false, 1],
		['without a MIG mode', {isMigEnabled: undefined, migInstances: undefined}, true, 0],
		['of a model without MIG', {isMigEnabled: undefined, unknown: {isMigEnabled: '[N/A]'}}, true, 0],
		[
			'with an unreadable MIG mode',
			{isMigEnabled: undefined, unknown: {isMigEnabled: '[Unknown Error]'}},
			undefined,
			undefined,
		],
		['that awaits a reset to change its mode', {isMigPending: true}, undefined, undefined],
		['with unread instances', {migInstances: undefined}, false, undefined],
		['with an instance without a UUID', {migInstances: [{profile: '1g.10gb'}]}, false, undefined],
	])('are known or unknown for a GPU %s', (_, part, whole, count) => {
		const reading = {...split, ...part};
		expect(isWhole(reading)).toBe(whole);
		expect(instancesOf(reading)?.length).toBe(count);
	});

	test('do not count as removed unless all instances are known', () => {
		expect(isGone(split, {uuid: 'MIG-0-0'})).toBe(false);
		expect(isGone(split, {uuid: 'MIG-0-0-earlier'})).toBe(true);
		expect(isGone({...split, migInstances: undefined}, {uuid: 'MIG-0-0-earlier'})).toBe(false);
		expect(isGone(undefined, {uuid: 'MIG-0-0-earlier'})).toBe(false);
	});
});

describe('the use of a MIG instance', () => {
	const process = {pid: 7, user: 'bob', memoryUsedMiB: 5000, kind: 'compute'} as const;
	const limits = {memoryThresholdMiB: 1024};
	const reading = splitReading(0, ['1g.10gb', '2g.20gb']);
	const [first, second] = instancesOf(reading)!;
	const without = (part: Partial<GpuReading>): GpuReading => ({
		...reading,
		...part,
		migInstances: reading.migInstances!.map((instance) => ({
			...instance,
			memoryUsedMiB: undefined,
			unknown: {memoryUsedMiB: 'N/A'},
		})),
	});

	test('includes only processes on that instance', () => {
		const seen = without({processes: [{...process, gpuInstanceId: 2, computeInstanceId: 0}]});
		expect(judgeInstance(seen, first!, limits)).toEqual({kind: 'idle'});
		expect(judgeInstance(seen, second!, limits)).toMatchObject({kind: 'used', memoryUsedMiB: 5000});
	});

	test('is unknown if neither its memory nor the instance of each process is reported', () => {
		for (const processes of [undefined, [process]]) {
			expect(judgeInstance(without({processes}), first!, limits).kind).toBe('unknown');
		}
	});

	test.each<[Record<string, string>, string]>([
		[{memoryUsedMiB: 'Unknown Error'}, 'memory in use is unknown: Unknown Error'],
		[{}, 'memory in use is unknown'],
	])('is unknown if its memory could not be read, even without a process: %o', (unknown, why) => {
		const migInstances = reading.migInstances!.map((instance) => ({...instance, memoryUsedMiB: undefined, unknown}));
		expect(judgeInstance({...reading, migInstances, processes: []}, first!, limits)).toEqual({kind: 'unknown', why});
	});

	test('follows the reported memory if processes are unknown', () => {
		expect(judgeInstance({...reading, processes: undefined}, first!, limits)).toEqual({kind: 'idle'});
	});

	test('includes any process if clean=on, even a process with little memory', () => {
		const clean = {...limits, isCleanWanted: true};
		expect(judgeInstance({...reading, processes: undefined}, first!, clean).kind).toBe('unknown');
		const small = {...process, memoryUsedMiB: 3, gpuInstanceId: 1, computeInstanceId: 0};
		expect(judgeInstance({...reading, processes: [small]}, first!, clean)).toMatchObject({kind: 'used', isDirty: true});
		expect(judgeInstance({...reading, processes: [small]}, second!, clean)).toEqual({kind: 'idle'});
	});

	test("counts only processes of the holder's account on that instance", () => {
		const shares = [heldBy('alice', first!), heldBy('bob', second!)];
		const on = (pid: number, user: string, gpuInstanceId: number) => ({pid, user, gpuInstanceId, computeInstanceId: 0});
		const processes = [on(1, 'alice', 1), on(2, 'alice', 2), on(3, 'bob', 2), on(4, 'bob', 1), {pid: 5, user: 'bob'}];
		const usage = usageOfShares(shares, processes, reading);
		expect(usage.shares.map((share) => share.processes.map(({pid}) => pid))).toEqual([[1], [3, 5]]);
		expect(usage.others.map(({pid}) => pid)).toEqual([2, 4]);
	});

	test('counts as idle only while the instance exists and reports memory and processes', () => {
		const record = (instance: InstanceOfGpu): GpuRecord => ({
			kind: 'shared',
			index: 0,
			raw: '{}',
			shares: [heldBy('alice', instance)],
		});
		const idleFor = (instance: InstanceOfGpu, seen: GpuReading): number | undefined => {
			const known = {records: [record(instance)], memoryThresholdMiB: 1024};
			const before = nextIdle({gpus: [seen]}, {...known, before: [], now: 100});
			const idle = nextIdle({gpus: [seen]}, {...known, before, now: 160});
			const [held] = [{index: 0, lease: heldBy('alice', instance), sharedBy: {record: known.records[0]!, position: 0}}];
			return idleSecondsOf({idle}, held as Parameters<typeof idleSecondsOf>[1], {
				reading: seen,
				now: 160,
				memoryThresholdMiB: 1024,
			});
		};

		expect(idleFor(first!, reading)).toBe(60);
		expect(idleFor(first!, without({}))).toBeUndefined();
		expect(idleFor(first!, {...reading, processes: undefined})).toBeUndefined();
		expect(idleFor(first!, {...reading, processes: [process]})).toBeUndefined();
		expect(idleFor({...first!, uuid: 'MIG-earlier'}, reading)).toBeUndefined();
		expect(idleFor(first!, {...reading, processes: [{...process, gpuInstanceId: 2, computeInstanceId: 0}]})).toBe(60);
	});
});

test('a request for a MIG profile gets the smallest sufficient instance, on the GPU with most instances in use', () => {
	const anyBox = fc.array(
		fc.array(fc.tuple(fc.constantFrom(...profiles), fc.boolean()), {minLength: 1, maxLength: 4}),
		{minLength: 1, maxLength: 3},
	);
	fc.assert(
		fc.property(anyBox, fc.constantFrom(...profiles), (box, wanted) => {
			const readings = box.map((instances, gpu) =>
				splitReading(
					gpu,
					instances.map(([profile]) => profile),
				),
			);
			const records = box.map((instances, index): GpuRecord => {
				const shares = instancesOf(readings[index])!
					.filter((_, position) => instances[position]![1])
					.map((instance) => heldBy('alice', instance));
				return shares.length === 0 ? {kind: 'free', index, raw: undefined} : {kind: 'shared', index, raw: '{}', shares};
			});
			const offers = readings
				.flatMap((reading) => instancesOf(reading)!)
				.filter(({profile}) => fitsProfile(profile!, wanted))
				.map((instance) => instanceCandidateOf(records[instance.gpu]!, instance, () => false))
				.filter((offer) => offer.kind === 'candidate');
			const [chosen] = chooseInstances(records, offers, 1);
			expect(chosen === undefined).toBe(offers.length === 0);
			const used = (gpu: number): number => box[gpu]!.filter(([, isHeld]) => isHeld).length;
			for (const {instance} of offers) {
				const [best, other] = [chosen!.instance, instance];
				// No smaller instance is sufficient, and no equal instance is on a GPU with more instances in use.
				expect(
					fitsProfile(best.profile!, other.profile!) && best.profile !== other.profile,
					`${best.profile} instead of ${other.profile}`,
				).toBe(false);
				expect(best.profile === other.profile && used(other.gpu) > used(best.gpu)).toBe(false);
			}
		}),
	);
});

test('a lease of the whole GPU or of a memory share blocks every MIG instance', () => {
	const [instance] = instancesOf(splitReading(0, ['1g.10gb']))!;
	const lease: Lease = {user: 'alice', type: 'manual', startTime: 1};
	const leased: GpuRecord = {kind: 'leased', index: 0, raw: '{}', lease};
	const shared: GpuRecord = {kind: 'shared', index: 0, raw: '{}', shares: [{...lease, memoryMiB: 1000}]};
	expect(instanceCandidateOf(leased, instance!, () => false)).toMatchObject({kind: 'leased', lease});
	expect(instanceCandidateOf(shared, instance!, () => false)).toMatchObject({kind: 'shared'});
	expect(idleReading(0).isMigEnabled).toBeUndefined();
});
