/** Links between AMD GPUs, from examples in the tools' documentation. */
import {expect, test} from 'vitest';
import {readAmdSmiLinks, readRocmSmiLinks} from '../../../source/gpu/amd/topology.js';
import {goodAnswers, json, listOf, setUp} from './set-up.js';

const none = new Map<number, number>();

const linkTo = (gpu: number, type: string, hops: unknown) => ({
	gpu,
	bdf: `0000:0${gpu + 1}:00.0`,
	weight: 15,
	link_status: 'ENABLED',
	link_type: type,
	num_hops: hops,
	bandwidth: 'N/A',
});

/** Two pairs of GPUs linked by XGMI. Each pair is attached to its own processor. */
const fourGpus = [0, 1, 2, 3].map((gpu) => ({
	gpu,
	bdf: `0000:0${gpu + 1}:00.0`,
	// The links are not in order, because their GPU numbers count and not their positions.
	links: [3, 2, 1, 0].map((other) =>
		gpu === other
			? linkTo(other, 'SELF', 0)
			: Math.floor(gpu / 2) === Math.floor(other / 2)
				? linkTo(other, 'XGMI', 1)
				: linkTo(other, 'PCIE', 3),
	),
}));

const pairs = [
	[undefined, 'XGMI', 'SYS', 'SYS'],
	['XGMI', undefined, 'SYS', 'SYS'],
	['SYS', 'SYS', undefined, 'XGMI'],
	['SYS', 'SYS', 'XGMI', undefined],
];

test('readAmdSmiLinks reads the topology format of ROCm 6.3 and later', () => {
	expect(readAmdSmiLinks([fourGpus], none)).toEqual(pairs);
	expect(readAmdSmiLinks([{gpu_data: fourGpus}], none)).toEqual(pairs);
});

test('readAmdSmiLinks reads the topology format of older ROCm versions', () => {
	const old = [0, 1].map((gpu) => ({
		gpu,
		bdf: `0000:0${gpu + 1}:00.0`,
		weight: {gpu_0: 0, gpu_1: 40},
		hops: {gpu_0: gpu === 0 ? 0 : 2, gpu_1: gpu === 0 ? 2 : 0},
		link_type: {gpu_0: gpu === 0 ? 'SELF' : 'PCIE', gpu_1: gpu === 0 ? 'PCIE' : 'SELF'},
	}));
	expect(readAmdSmiLinks([old], none)).toEqual([
		[undefined, 'PHB'],
		['PHB', undefined],
	]);
});

test('readRocmSmiLinks returns both directions of each link, although the table lists only one direction', () => {
	const system = {
		'(Topology) Weight between DRM devices 0 and 1': '15',
		'(Topology) Hops between DRM devices 0 and 1': '1',
		'(Topology) Hops between DRM devices 0 and 2': '2',
		'(Topology) Hops between DRM devices 1 and 2': '3',
		'(Topology) Link type between DRM devices 0 and 1': 'XGMI',
		'(Topology) Link type between DRM devices 0 and 2': 'PCIE',
		'(Topology) Link type between DRM devices 1 and 2': 'PCIE',
	};
	const card = {'(Topology) Numa Node': '0', '(Topology) Numa Affinity': '0'};
	expect(readRocmSmiLinks({system, card0: card, card1: card, card2: card}, none)).toEqual([
		[undefined, 'XGMI', 'PHB'],
		['XGMI', undefined, 'SYS'],
		['PHB', 'SYS', undefined],
	]);
});

test('an invalid topology has no links', () => {
	for (const answer of [
		undefined,
		null,
		[],
		{},
		'PCIE',
		{system: 'none'},
		{system: {'(Topology) Link type': 'XGMI'}},
	]) {
		expect(readRocmSmiLinks(answer, none)).toBeUndefined();
		expect(readAmdSmiLinks([answer], none)).toBeUndefined();
	}

	const strange = {gpu: 0, links: [linkTo(1, 'N/A', 'N/A'), linkTo(2, 'PCIE', 'N/A'), linkTo(3, 'XGMI', 'N/A'), 7]};
	expect(readAmdSmiLinks([[strange]], none)?.[0]).toEqual([undefined, undefined, undefined, 'XGMI']);
});

test('the AMD provider returns the links between GPUs in the order in which programs number the GPUs', async () => {
	// Programs number these two GPUs in reverse order.
	const list = json([
		{...listOf(0), node_id: 5},
		{...listOf(1), node_id: 4},
	]);
	const links = [
		{gpu: 0, links: [linkTo(0, 'SELF', 0), linkTo(1, 'XGMI', 1), linkTo(2, 'PCIE', 2)]},
		{gpu: 1, links: [linkTo(2, 'PCIE', 3)]},
	];
	const {provider} = await setUp({answers: {...goodAnswers, list, topology: json(links)}});
	expect((await provider.observe()).failure).toBeUndefined();
	expect(await provider.readLinks!()).toEqual([
		[undefined, 'XGMI', 'SYS'],
		['XGMI', undefined, 'PHB'],
		['SYS', 'PHB', undefined],
	]);
});
