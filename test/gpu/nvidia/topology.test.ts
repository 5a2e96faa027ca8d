import {mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import {expect, onTestFinished, test} from 'vitest';
import {createPciPlacement} from '../../../source/gpu/tool/pci-placement.js';
import {parseTopology} from '../../../source/gpu/nvidia/topology.js';
import {idleReading} from '../../_helpers/world.js';

const escape = '\u{1B}';
const table = `\t${escape}[4mGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID${escape}[0m
GPU0\t X \tNV18\tSYS\tPIX\t0-55\t0\t\tN/A
GPU1\tNV18\t X \t NODE\tSYS\t0-55\t0\t\tN/A
GPU2\tSYS\tNODE\t X \tSYS\t56-111\t1\t\tN/A
NIC0\tPIX\tSYS\tSYS\t X \t\t\t\t

Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
`;

test('parseTopology returns the links between GPUs, without the links of a network card', () => {
	expect(parseTopology(table)).toEqual([
		[undefined, 'NV18', 'SYS'],
		['NV18', undefined, 'NODE'],
		['SYS', 'NODE'],
	]);
});

test('parseTopology returns undefined links for an unlisted GPU', () => {
	expect(parseTopology('\tGPU0\tCPU Affinity\nGPU0\t X \t0-19\n')).toEqual([[]]);
	expect(parseTopology('\tGPU0\tGPU2\nGPU0\t X \tPHB\nGPU2\tPHB\t X \n')).toEqual([
		[undefined, undefined, 'PHB'],
		[],
		['PHB'],
	]);
	expect(parseTopology('Failed to initialize NVML: Driver/library version mismatch')).toBeUndefined();
	expect(parseTopology('')).toBeUndefined();
});

test('parseTopology returns only known kinds of links for any text', () => {
	const words = ['', '\t', '\n', 'GPU1', 'GPU9999', 'NV18', 'NV0', 'PIX', ' X ', escape];
	fc.assert(
		fc.property(
			fc.array(fc.tuple(fc.nat(table.length), fc.nat(20), fc.constantFrom(...words)), {maxLength: 8}),
			(changes) => {
				let text = table;
				for (const [at, length, word] of changes) {
					text = text.slice(0, at) + word + text.slice(at + length);
				}

				for (const link of parseTopology(text)?.flat() ?? []) {
					expect(link ?? 'SYS').toMatch(/^(?:NV[1-9]\d*|PIX|PXB|PHB|NODE|SYS)$/v);
				}
			},
		),
	);
});

test('the NUMA node of a GPU is read once, from the list of PCI devices', () => {
	const root = mkdtempSync(path.join(tmpdir(), 'canhazgpu-pci-'));
	onTestFinished(() => {
		rmSync(root, {recursive: true});
	});
	const list = path.join(root, 'list');
	const add = (name: string, parent: string, node: string) => {
		const device = path.join(root, 'devices', parent, `${name.slice(0, 8)}00.0`, name);
		mkdirSync(device, {recursive: true});
		writeFileSync(path.join(device, 'numa_node'), `${node}\n`);
		mkdirSync(list, {recursive: true});
		symlinkSync(device, path.join(list, name));
	};

	add('0000:3b:00.0', 'pci0000:3a', '1');
	add('10000:01:00.0', 'pci10000:00', '-1');
	const placed = createPciPlacement(list);
	const seen = ['00000000:3B:00.0', '00010000:01:00.0', '00000000:FF:00.0', 'nonsense', undefined].map(
		(pciBusId, index) => ({...idleReading(index), pciBusId}),
	);
	const expected = [
		{numaNode: 1, pciRoot: 'pci0000:3a'},
		{numaNode: undefined, pciRoot: 'pci10000:00'},
		{numaNode: undefined, pciRoot: undefined},
		{numaNode: undefined, pciRoot: undefined},
		{numaNode: undefined, pciRoot: undefined},
	];
	const placesOf = () => placed(seen).map(({numaNode, pciRoot}) => ({numaNode, pciRoot}));
	expect(placesOf()).toEqual(expected);
	rmSync(list, {recursive: true});
	expect(placesOf()).toEqual(expected);
});
