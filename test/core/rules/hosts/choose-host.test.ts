import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {chooseHost, hostToMoveTo, type HostAnswer} from '../../../../source/core/rules/hosts/choose-host.js';
import {idleReading, observationOf} from '../../../_helpers/world.js';

type Gpu = {readonly model: string; readonly freeIn: number | undefined};

const answer = (host: string, gpus: readonly Gpu[], waitingCount: number | undefined): HostAnswer => ({
	host,
	observation: observationOf(gpus.map(({model}, index) => ({...idleReading(index), name: model}))),
	freeInSeconds: new Map(gpus.flatMap(({freeIn}, index) => (freeIn === undefined ? [] : [[index, freeIn] as const]))),
	waitingCount,
});

const gpu: fc.Arbitrary<Gpu> = fc.record({
	model: fc.constantFrom('NVIDIA A100', 'NVIDIA H100'),
	freeIn: fc.option(fc.constantFrom(0, 0, 60, 3600), {nil: undefined}),
});

type Host = 'away' | {readonly gpus: readonly Gpu[]; readonly waitingCount: number};

const hosts: fc.Arbitrary<readonly Host[]> = fc.array(
	fc.oneof(
		{weight: 5, arbitrary: fc.record({gpus: fc.array(gpu, {maxLength: 4}), waitingCount: fc.nat(2)})},
		{weight: 1, arbitrary: fc.constant('away' as const)},
	),
	{minLength: 1, maxLength: 4},
);

/** Returns how long the request must wait, by trying each set of GPUs of one model. Undefined means forever. */
function soonest(
	{gpus}: {readonly gpus: readonly Gpu[]},
	count: number,
	model: string | undefined,
): number | undefined {
	const sets = Array.from({length: 2 ** gpus.length}, (_, bits) =>
		gpus.filter((__, index) => Math.floor(bits / 2 ** index) % 2 === 1),
	)
		.filter((set) => set.length === count && new Set(set.map((each) => each.model)).size === 1)
		.filter((set) => model === undefined || set[0]!.model === `NVIDIA ${model}`);
	return sets.length === 0
		? undefined
		: Math.min(...sets.map((set) => Math.max(...set.map(({freeIn}) => freeIn ?? Infinity))));
}

test('chooseHost returns the best host, or no host if no host can ever serve the request', () => {
	fc.assert(
		fc.property(
			hosts,
			fc.integer({min: 1, max: 4}),
			fc.option(fc.constantFrom('A100', 'H100'), {nil: undefined}),
			(list, count, model) => {
				const answers = list.map((host, position) =>
					host === 'away'
						? {host: `h${position}`, error: 'away'}
						: answer(`h${position}`, host.gpus, host.waitingCount),
				);
				const choice = chooseHost({count, need: model === undefined ? undefined : {models: [model]}}, answers);
				const keys = list.map((host) => {
					const seconds = host === 'away' ? undefined : soonest(host, count, model);
					return host === 'away' || seconds === undefined
						? undefined
						: [seconds === 0 && host.waitingCount === 0 ? 0 : 1, seconds, host.waitingCount];
				});
				const ranked = keys
					.flatMap((key, offset) => (key === undefined ? [] : [{key: [...key, offset], index: offset}]))
					.toSorted((one, other) => {
						const at = one.key.findIndex((part, index) => part !== other.key[index]);
						return one.key[at]! < other.key[at]! ? -1 : 1;
					});
				const [best] = ranked;
				if (best === undefined) {
					expect(choice.kind).toBe('none');
					return;
				}

				const seconds = best.key[1]!;
				expect(choice).toMatchObject({
					kind: 'chosen',
					host: `h${best.index}`,
					waitSeconds: Number.isFinite(seconds) ? seconds : undefined,
				});
			},
		),
		{numRuns: 2000},
	);
});

test('chooseHost checks for each host whether that host has the requested GPU ids', () => {
	const small = answer('small', [{model: 'A', freeIn: 0}], 0);
	const large = answer(
		'large',
		[
			{model: 'A', freeIn: 0},
			{model: 'B', freeIn: 0},
		],
		0,
	);
	expect(chooseHost({count: 1, ids: [1]}, [small, large])).toMatchObject({host: 'large', waitSeconds: 0});
	expect(chooseHost({count: 1, ids: [5]}, [small, large])).toEqual({
		kind: 'none',
		reasons: [
			{host: 'small', reason: {kind: 'insufficient', gpuCount: 1}},
			{host: 'large', reason: {kind: 'insufficient', gpuCount: 2}},
		],
	});
});

test('hostToMoveTo returns only a host that can serve the request at once and has an empty queue', () => {
	fc.assert(
		fc.property(hosts, fc.integer({min: 1, max: 4}), fc.nat(3), (list, count, current) => {
			const answers = list.map((host, index) =>
				host === 'away' ? {host: `h${index}`, error: 'away'} : answer(`h${index}`, host.gpus, host.waitingCount),
			);
			const servesAtOnce = list.map(
				(host, position) =>
					position !== current && host !== 'away' && host.waitingCount === 0 && soonest(host, count, undefined) === 0,
			);
			const first = servesAtOnce.indexOf(true);
			expect(hostToMoveTo({count}, `h${current}`, answers)).toBe(first === -1 ? undefined : `h${first}`);
		}),
		{numRuns: 2000},
	);
});

test('chooseHost ranks a free host of unknown queue length between empty and non-empty queues', () => {
	const free = [{model: 'A', freeIn: 0}];
	const [untold, empty, awaited] = [
		answer('untold', free, undefined),
		answer('empty', free, 0),
		answer('awaited', free, 1),
	];
	expect(chooseHost({count: 1}, [untold, awaited, empty])).toMatchObject({host: 'empty'});
	expect(chooseHost({count: 1}, [awaited, untold])).toMatchObject({host: 'untold'});
	expect(chooseHost({count: 1}, [untold, answer('other', free, undefined)])).toMatchObject({host: 'untold'});
});

test('chooseHost also returns the preferred hosts that did not answer', () => {
	const away = (host: string) => ({host, error: 'no answer within 10 s'});
	const free = answer('free', [{model: 'A', freeIn: 0}], 0);
	expect(chooseHost({count: 1}, [away('a'), answer('none', [], 0), away('b'), free, away('c')])).toMatchObject({
		host: 'free',
		unanswered: [
			{host: 'a', words: 'no answer within 10 s'},
			{host: 'b', words: 'no answer within 10 s'},
		],
	});
});

test('a request for GPUs linked by NVLink gets a host with enough GPUs of one model, and stays there', () => {
	const free = (host: string, ...models: readonly string[]) =>
		answer(
			host,
			models.map((model) => ({model, freeIn: 0})),
			0,
		);
	const answers = [free('mixed', 'A', 'B'), free('alike', 'A', 'A')];
	const wanted = {count: 2, need: {nvlink: true}};
	expect(chooseHost(wanted, answers)).toMatchObject({kind: 'chosen', host: 'alike', waitSeconds: 0});
	expect(chooseHost(wanted, answers.slice(0, 1))).toMatchObject({kind: 'none'});
	expect(hostToMoveTo({count: 2}, 'mixed', answers)).toBe('alike');
	expect(hostToMoveTo(wanted, 'mixed', answers)).toBeUndefined();
});

test('hostToMoveTo never returns a host with an unknown queue', () => {
	expect(hostToMoveTo({count: 1}, 'here', [answer('peer', [{model: 'A', freeIn: 0}], undefined)])).toBeUndefined();
});

describe('the limit of the account on a host', () => {
	const limited = (host: string, room: NonNullable<Extract<HostAnswer, {room?: unknown}>['room']>, freeIn = 0) => ({
		...answer(
			host,
			[0, 1, 2, 3].map(() => ({model: 'A', freeIn})),
			0,
		),
		room,
	});
	const spent = limited('spent', {mostGpus: 4, leftGpus: 1, hasSlack: false});
	const busy = limited('busy', {mostGpus: 4, leftGpus: 4, hasSlack: false}, 3600);

	test('makes chooseHost prefer a host that is free later to a host where the account waits for its own GPUs', () => {
		expect(chooseHost({count: 2}, [spent, busy])).toMatchObject({host: 'busy', waitSeconds: 3600});
		expect(chooseHost({count: 1}, [busy, spent])).toMatchObject({host: 'spent', waitSeconds: 0, freeCount: 1});
		expect(chooseHost({count: 2}, [spent])).toMatchObject({host: 'spent', waitSeconds: undefined, freeCount: 1});
		expect(hostToMoveTo({count: 2}, 'busy', [busy, spent])).toBeUndefined();
	});

	test('excludes a host where the account can never hold so many GPUs', () => {
		expect(chooseHost({count: 3}, [limited('small', {mostGpus: 2, leftGpus: 2, hasSlack: false})])).toEqual({
			kind: 'none',
			reasons: [{host: 'small', reason: {kind: 'over-limit', mostGpus: 2}}],
		});
	});

	test('can be exceeded by a reservation of whole GPUs if the host allows it and nobody waits there', () => {
		const lax = limited('lax', {mostGpus: 1, leftGpus: 0, hasSlack: true});
		const choose = (wanted: Parameters<typeof chooseHost>[0], waitingCount = 0) =>
			chooseHost(wanted, [{...lax, waitingCount}]);
		expect(choose({count: 2, type: 'manual'})).toMatchObject({host: 'lax', waitSeconds: 0});
		expect(choose({count: 2, type: 'manual'}, 1)).toMatchObject({host: 'lax', waitSeconds: undefined});
		expect(choose({count: 2, type: 'run'})).toMatchObject({kind: 'none'});
		expect(choose({count: 2})).toMatchObject({kind: 'none'});
	});
});

test('chooseHost excludes a host where the account cannot ask for so much time', () => {
	const free = answer('short', [{model: 'A', freeIn: 0}], 0);
	const strict = {...free, mostSeconds: 1800};
	const later = answer('long', [{model: 'A', freeIn: 60}], 0);
	expect(chooseHost({count: 1, seconds: 3600}, [strict, later])).toMatchObject({host: 'long', waitSeconds: 60});
	expect(chooseHost({count: 1, seconds: 1800}, [strict, later])).toMatchObject({host: 'short'});
	expect(chooseHost({count: 1}, [strict, later])).toMatchObject({host: 'short'});
	expect(chooseHost({count: 1, seconds: 3600}, [strict])).toEqual({
		kind: 'none',
		reasons: [{host: 'short', reason: {kind: 'too-long', mostSeconds: 1800}}],
	});
});

test('hostToMoveTo never moves a special request, because only the other host knows whether it would refuse it', () => {
	const free = answer('free', [{model: 'A', freeIn: 0}], 0);
	expect(hostToMoveTo({count: 1}, 'here', [free])).toBe('free');
	expect(hostToMoveTo({count: 1, isSpecial: true}, 'here', [free])).toBeUndefined();
});
