/** Where in the machine a GPU sits, by the kernel's own list of PCI devices. */
import {readFileSync, realpathSync} from 'node:fs';
import path from 'node:path';
import type {GpuReading} from '../../core/model/types.js';

/** Where the kernel lists PCI devices, each a link to its place in the tree of devices. */
const devicesDirectory = '/sys/bus/pci/devices';

type Placement = Pick<GpuReading, 'numaNode' | 'pciRoot'>;

/** `00000000:3B:00.0` -> `0000:3b:00.0`: the kernel writes a domain in four digits, or as many as it has. */
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
			// -1 where the kernel does not know it.
			numaNode: Number.isSafeInteger(node) && node >= 0 ? node : undefined,
			pciRoot: realpathSync(device)
				.split('/')
				.find((part) => /^pci[\da-f]{4,8}:[\da-f]{2}$/v.test(part)),
		};
	} catch {
		// Not there in some containers and under WSL.
		return {};
	}
}

/** Adds to readings where their GPUs sit. Each place is read once, for a GPU does not move. */
export function createPciPlacement(
	directory = devicesDirectory,
): (gpus: readonly GpuReading[]) => readonly GpuReading[] {
	const known = new Map<string, Placement>();
	const placementOf = (name: string): Placement => {
		const placement = known.get(name) ?? readPlacement(directory, name);
		known.set(name, placement);
		return placement;
	};

	return (gpus) =>
		gpus.map((gpu) => {
			const name = gpu.pciBusId === undefined ? undefined : kernelName(gpu.pciBusId);
			const {numaNode, pciRoot} = name === undefined ? {} : placementOf(name);
			return numaNode === undefined && pciRoot === undefined ? gpu : {...gpu, numaNode, pciRoot};
		});
}
