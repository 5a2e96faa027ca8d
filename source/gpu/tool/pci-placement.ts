/** Finds a GPU's place in the machine from the kernel's list of PCI devices. */
import {readdirSync, readFileSync, readlinkSync} from 'node:fs';
import path from 'node:path';
import type {GpuReading} from '../../core/model/types.js';

/** The kernel's list of PCI devices. Each entry is a link into the device tree. */
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
			pciRoot: readlinkSync(device)
				.split('/')
				.find((part) => /^pci[\da-f]{4,8}:[\da-f]{2}$/v.test(part)),
		};
	} catch {
		return {};
	}
}

/** The names that the kernel lists. None in some containers and under WSL. */
function listedIn(directory: string): ReadonlySet<string> {
	try {
		return new Set(readdirSync(directory));
	} catch {
		return new Set();
	}
}

/**
Adds to readings where their GPUs sit. Each place is read once, for a GPU does not move. Only what is listed is read: to fail for each of 64 GPUs
takes milliseconds.
*/
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
