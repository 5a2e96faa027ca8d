/** Fake GPU devices in their own directory: nodes of the null device, and the driver's files in /proc and /sys. Only root can create them. */
import {execFileSync} from 'node:child_process';
import {closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';

export type StandInGpu = {
	readonly minor: number;
	readonly pciBusId: string;
	readonly uuid: string;
	/** Paths of all nodes of the GPU, such as `dev/nvidia2`. */
	readonly nodes: readonly string[];
};

export type StandIn = {
	/** The directory that replaces the root directory. */
	readonly root: string;
	readonly gpus: readonly StandInGpu[];
	/** Nodes that belong to no GPU and can always be opened. */
	readonly common: readonly string[];
};

/** Whether this process can create device nodes. Prints a message if it cannot, so that skipped tests are noticed. */
export function canMakeDevices(): boolean {
	const isRoot = process.getuid?.() === 0;
	if (!isRoot) {
		console.warn('Tests are skipped that need mknod: only root may make device nodes');
	}

	return isRoot;
}

/** Returns the PCI address of a GPU in the simulated box: GPU 0 has `00000000:01:00.0`. */
const pciOf = (index: number): string => `0000:${(index + 1).toString(16).padStart(2, '0')}:00.0`;

/**
Returns the numbers of devices that can be opened without side effects and that no test job needs. A control group denies devices by number, so
each fake GPU needs its own number.
*/
export function openableNumbers(): readonly string[] {
	// Only these are safe. Opening a watchdog device, for example, restarts the machine.
	const harmless = [
		'fuse',
		'btrfs-control',
		'autofs',
		'tun',
		'loop-control',
		'vga_arbiter',
		'vsock',
		'kvm',
		'userfaultfd',
	];
	const misc = new Map(
		readFileSync('/proc/misc', 'utf8')
			.trim()
			.split('\n')
			.map((line) => {
				const [minor, name] = line.trim().split(/\s+/v, 2);
				return [name, `10 ${minor}`];
			}),
	);
	const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-numbers-'));
	try {
		// The last three are `full`, `zero` and `random`.
		return [...harmless.map((name) => misc.get(name)), '1 7', '1 5', '1 8'].filter((number) => {
			if (number === undefined) {
				return false;
			}

			const file = path.join(directory, number.replace(' ', '-'));
			try {
				execFileSync('mknod', ['-m', '666', file, 'c', ...number.split(' ')], {stdio: 'ignore'});
				closeSync(openSync(file, 'r'));
				return true;
			} catch {
				return false;
			}
		}) as string[];
	} finally {
		rmSync(directory, {recursive: true});
	}
}

/** Starts to build a device directory, and returns functions that add files and nodes. */
function begin() {
	const root = mkdtempSync(path.join(tmpdir(), 'canhazgpu-devices-'));
	const devices: string[] = [];
	const write = (file: string, text: string): void => {
		mkdirSync(path.join(root, path.dirname(file)), {recursive: true});
		writeFileSync(path.join(root, file), text);
	};

	const link = (target: string, file: string): void => {
		mkdirSync(path.join(root, path.dirname(file)), {recursive: true});
		symlinkSync(target, path.join(root, file));
	};

	const graphics = (name: string, bus: string, vendor: string): string => {
		write(`sys/devices/pci0000:00/${bus}/vendor`, `${vendor}\n`);
		link(`../../../devices/pci0000:00/${bus}`, `sys/class/drm/${name}/device`);
		link(`../${name}`, `dev/dri/by-path/pci-${bus}-${name.startsWith('card') ? 'card' : 'render'}`);
		devices.push(`dev/dri/${name}`);
		return `dev/dri/${name}`;
	};

	const finish = (
		gpus: readonly StandInGpu[],
		common: readonly string[],
		numberOf: (node: string) => string = () => '1 3',
	): StandIn => {
		for (const file of new Set(devices.map((device) => path.dirname(device)))) {
			mkdirSync(path.join(root, file), {recursive: true});
		}

		const script =
			'cd "$0" && while test $# -gt 0; do mknod -m 666 "$1" c $2 $3 || exit; shift 3; done; chmod -R a+rX .';
		execFileSync('sh', ['-c', script, root, ...devices.flatMap((device) => [device, ...numberOf(device).split(' ')])]);
		return {root, gpus, common};
	};

	return {devices, write, graphics, finish};
}

/** The graphics chip of the mainboard, which is not a GPU of the pool. */
const ownGraphics = ['card0', '0000:f0:00.0', '0x1a03'] as const;

/** Creates the devices of AMD GPUs: a graphics node for each, and one node that all share. */
export function makeAmdDevices(count: number): StandIn {
	const {devices, graphics, finish} = begin();
	const common = ['dev/kfd', graphics(...ownGraphics)];
	devices.push('dev/kfd');
	const gpus = Array.from({length: count}, (_, index): StandInGpu => {
		const bus = pciOf(index);
		return {
			minor: index + 1,
			pciBusId: `0000${bus.toUpperCase()}`,
			uuid: `GPU-${index}`,
			nodes: [graphics(`card${index + 1}`, bus, '0x1002'), graphics(`renderD${128 + index}`, bus, '0x1002')],
		};
	});
	return finish(gpus, common);
}

/**
Creates the devices of NVIDIA GPUs. Each array index is a GPU index, and its value the minor number. /sys also has their graphics nodes, next to those
of the board.

@param partsOf - The GPUs in MIG mode, each with its GPU instances. Each has one compute instance.
@param options - With `hasOwnNumbers`, each GPU and each instance has a unique device number.
*/
export function makeNvidiaDevices(
	minors: readonly number[],
	partsOf: Readonly<Record<number, readonly number[]>> = {},
	{hasOwnNumbers = false} = {},
): StandIn {
	const {devices, write, graphics, finish} = begin();
	const common = ['dev/nvidiactl', 'dev/nvidia-uvm', 'dev/nvidia-caps/nvidia-cap1', graphics(...ownGraphics)];
	devices.push(...common.slice(0, 3));
	let capability = 20;
	const gpus = minors.map((minor, index): StandInGpu => {
		const bus = pciOf(index);
		const uuid = `GPU-${String(index).padStart(8, '0')}-0000-0000-0000-000000000000`;
		write(
			`proc/driver/nvidia/gpus/${bus}/information`,
			`Model: \t\t NVIDIA H100\nIRQ:   \t\t ${40 + index}\nGPU UUID: \t ${uuid}\nBus Location: \t ${bus}\nDevice Minor: \t ${minor}\nGPU Excluded:\t No\n`,
		);
		const parts = (partsOf[index] ?? []).flatMap((instance) =>
			[`gi${instance}`, `gi${instance}/ci0`].map((place) => {
				capability++;
				write(
					`proc/driver/nvidia/capabilities/gpu${minor}/mig/${place}/access`,
					`DeviceFileMinor: ${capability}\nDeviceFileMode: 292\nDeviceFileModify: 1\n`,
				);
				return `dev/nvidia-caps/nvidia-cap${capability}`;
			}),
		);
		const main = `dev/nvidia${minor}`;
		devices.push(main, ...parts);
		return {
			minor,
			pciBusId: `0000${bus.toUpperCase()}`,
			uuid,
			nodes: [
				main,
				graphics(`card${index + 1}`, bus, '0x10de'),
				graphics(`renderD${128 + index}`, bus, '0x10de'),
				...parts,
			],
		};
	});
	return hasOwnNumbers ? finish(gpus, common, ownNumbers(gpus)) : finish(gpus, common);
}

/** Returns the device number of each node. A GPU has one number, and each MIG instance has one for its two nodes. */
function ownNumbers(gpus: readonly StandInGpu[]): (node: string) => string {
	const groups = gpus.flatMap(({nodes}) => [
		nodes.slice(0, 3),
		...Array.from({length: (nodes.length - 3) / 2}, (_, part) => nodes.slice(3 + 2 * part, 5 + 2 * part)),
	]);
	const numbers = openableNumbers();
	if (numbers.length < groups.length) {
		throw new Error(`Only ${numbers.length} devices open here, and ${groups.length} are wanted`);
	}

	const byNode = new Map(groups.flatMap((nodes, index) => nodes.map((node) => [node, numbers[index]!])));
	return (node) => byNode.get(node) ?? '1 3';
}
