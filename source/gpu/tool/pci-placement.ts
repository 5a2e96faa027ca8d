import {readdirSync, readFileSync, readlinkSync} from 'node:fs';
import path from 'node:path';
import type {GpuReading} from '../../core/model/types.js';

const devicesDirectory = '/sys/bus/pci/devices';

type Placement = Pick<GpuReading, 'numaNode' | 'pciRoot'>;

/** Converts `00000000:3B:00.0` to `0000:3b:00.0`. The kernel writes at least four digits of the domain. */
function kernelName(pciBusId: string): string | undefined {
	const {domain, place} =
		/^(?<domain>[\da-f]{4,8}):(?<place>[\da-f]{2}:[\da-f]{2}\.[0-7])$/v.exec(pciBusId.toLowerCase())?.groups ?? {};
	return domain === undefined ? undefined : `${Number.parseInt(domain, 16).toString(16).padStart(4, '0')}:${place}`;
}

function readPlacement(directory: string, name: string): Placement {
	try {
		const device = path.join(directory, name);
		const node = Number(readFileSync(path.join(device, 'numa_node'), 'utf8').trim());
		return {
			// -1 if the kernel does not know the node.
			numaNode: Number.isSafeInteger(node) && node >= 0 ? node : undefined,
			pciRoot: readlinkSync(device)
				.split('/')
				.find((part) => /^pci[\da-f]{4,8}:[\da-f]{2}$/v.test(part)),
		};
	} catch {
		return {};
	}
}

/** Returns the PCI addresses in the kernel's list. Empty in some containers and under WSL. */
function listedIn(directory: string): ReadonlySet<string> {
	try {
		return new Set(readdirSync(directory));
	} catch {
		return new Set();
	}
}

/** Adds each GPU's NUMA node and PCI root. Looks each GPU up once. Skips GPUs that are not in the kernel's list, because failing lookups are slow. */
export function createPciPlacement(
	directory = devicesDirectory,
): (gpus: readonly GpuReading[]) => readonly GpuReading[] {
	const known = new Map<string, Placement>();
	const learn = (names: readonly string[]): void => {
		const unknown = names.filter((name) => !known.has(name));
		const listed = unknown.length === 0 ? new Set() : listedIn(directory);
		for (const name of unknown) {
			known.set(name, listed.has(name) ? readPlacement(directory, name) : {});
		}
	};

	return (gpus) => {
		const names = gpus.map(({pciBusId}) => (pciBusId === undefined ? undefined : kernelName(pciBusId)));
		learn(names.filter((name) => name !== undefined));
		return gpus.map((gpu, position) => {
			const {numaNode, pciRoot} = known.get(names[position] ?? '') ?? {};
			return numaNode === undefined && pciRoot === undefined ? gpu : {...gpu, numaNode, pciRoot};
		});
	};
}
