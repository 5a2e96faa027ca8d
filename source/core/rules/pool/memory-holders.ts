/** Explains who holds the memory of a GPU, and what to do about memory without a listed process. */
import type {DeviceHolder, DeviceHolders, HolderState} from '../../model/device-holders.js';
import type {GpuProcess, GpuReading} from '../../model/types.js';
import {memoryOf} from '../usage/share-usage.js';

/** A process on a GPU, or with its device open. */
export type MemoryHolder = DeviceHolder & {
	/** Whether the GPU tool lists it. */
	readonly isListed: boolean;
	/** As the tool reports it. */
	readonly memoryUsedMiB: number | undefined;
	/** A service that opens devices to read them, and holds no memory. */
	readonly isObserver: boolean;
};

/** Advice, in this order. */
export type HolderAdvice =
	/** Only the driver's own memory is in use. */
	| {readonly kind: 'nothing-held'}
	/** Processes of the asker that the tool does not list. */
	| {readonly kind: 'end-own'; readonly pids: readonly number[]}
	| {readonly kind: 'ask'; readonly user: string | undefined; readonly pids: readonly number[]}
	| {readonly kind: 'stop-container'; readonly containerId: string; readonly pids: readonly number[]}
	/** Stopped processes keep their memory until they continue. */
	| {readonly kind: 'stopped'; readonly pids: readonly number[]}
	/** Processes inside the driver, which ignore signals. */
	| {readonly kind: 'stuck'; readonly pids: readonly number[]}
	/** The parent has to take notice, or to end. */
	| {readonly kind: 'zombie'; readonly pid: number; readonly parentPid: number | undefined}
	/** The tool lists pids that are not to be seen here. */
	| {readonly kind: 'out-of-sight'; readonly pids: readonly number[]}
	/** More may be among the processes that this account may not look into. */
	| {readonly kind: 'look-as-root'; readonly count: number; readonly users: readonly string[]}
	/** Which device is the GPU's is not known, so no one can be found by open files. */
	| {readonly kind: 'no-devices'}
	/** Everything was seen, and no one has it open: the driver has kept the memory. */
	| {readonly kind: 'kept-by-driver'};

export type HoldersReport = {
	readonly index: number;
	/** Undefined where the tool does not tell. */
	readonly memoryUsedMiB: number | undefined;
	/** Memory of the listed processes. Undefined if the tool does not report it. */
	readonly listedMiB: number | undefined;
	readonly devices: readonly string[];
	readonly holders: readonly MemoryHolder[];
	readonly unreadable: DeviceHolders['unreadable'];
	readonly advice: readonly HolderAdvice[];
};

const observers: ReadonlySet<string> = new Set([
	'nvidia-persistenced',
	'nvidia-persiste',
	'nv-hostengine',
	'dcgm-exporter',
	'nvidia-smi',
	'nvtop',
	'nvitop',
	'gpustat',
	'rocm-smi',
	'amd-smi',
]);

/** States in which a process can be ended or continued. */
const livingStates: ReadonlySet<HolderState> = new Set(['running', 'leaderless', 'stopped']);

/** Advice that is always given. */
const certainKinds: ReadonlySet<HolderAdvice['kind']> = new Set(['zombie', 'stuck', 'out-of-sight']);

const pidsOf = (holders: readonly MemoryHolder[]): readonly number[] => holders.map(({pid}) => pid);

/** Whether what is in use is more than the driver's own and more than the listed processes have. Unknown is unexplained. */
function isUnexplained({memoryUsedMiB}: GpuReading, listedMiB: number | undefined, thresholdMiB: number): boolean {
	return memoryUsedMiB === undefined || listedMiB === undefined || memoryUsedMiB - listedMiB > thresholdMiB;
}

function adviceFor(
	holders: readonly MemoryHolder[],
	{devices, unreadable}: DeviceHolders,
	unexplained: boolean,
): readonly HolderAdvice[] {
	const about = <Kind extends 'end-own' | 'stopped' | 'stuck' | 'out-of-sight'>(
		kind: Kind,
		isMeant: (holder: MemoryHolder) => boolean,
		among = holders,
	) => {
		const pids = pidsOf(among.filter((holder) => isMeant(holder)));
		return pids.length === 0 ? [] : [{kind, pids}];
	};

	const living = holders.filter(({state}) => livingStates.has(state));
	const unlisted = living.filter(({isListed, isObserver}) => !isListed && !isObserver);
	const byContainer = Map.groupBy(unlisted, ({containerId}) => containerId);
	const outside = byContainer.get(undefined) ?? [];
	byContainer.delete(undefined);
	const byUser = Map.groupBy(
		outside.filter(({isOwn}) => !isOwn),
		({user}) => user,
	);
	const found: HolderAdvice[] = [
		...about('end-own', ({isOwn}) => isOwn, outside),
		...Array.from(byUser, ([user, of]) => ({kind: 'ask', user, pids: pidsOf(of)}) as const),
		...Array.from(
			byContainer,
			([containerId, of]) => ({kind: 'stop-container', containerId: containerId!, pids: pidsOf(of)}) as const,
		),
		...about('stopped', ({state}) => state === 'stopped'),
		...about('stuck', ({state}) => state === 'waiting'),
		...holders
			.filter(({state}) => state === 'zombie')
			.map(({pid, parentPid}) => ({kind: 'zombie', pid, parentPid}) as const),
		...about('out-of-sight', ({state}) => state === 'absent'),
	];
	if (!unexplained) {
		// Then an open device is no reason to end anything.
		return found.filter(({kind}) => certainKinds.has(kind));
	}

	if (devices.length === 0) {
		return [...found, {kind: 'no-devices'}];
	}

	if (unreadable.count > 0) {
		return [...found, {kind: 'look-as-root', ...unreadable}];
	}

	return found.length === 0 ? [{kind: 'kept-by-driver'}] : found;
}

/**
@param reading - Of the GPU, by the newest scan.
@param seen - Who has its devices open, and the processes that the tool lists.
@param thresholdMiB - Up to this much is taken for the driver's own.
*/
export function reportHolders(reading: GpuReading, seen: DeviceHolders, thresholdMiB: number): HoldersReport {
	const listed = new Map<number, GpuProcess>((reading.processes ?? []).map((process) => [process.pid, process]));
	const listedMiB = reading.processes === undefined ? undefined : memoryOf(reading.processes);
	const holders = seen.holders.map((holder): MemoryHolder => {
		const process = listed.get(holder.pid);
		return {
			...holder,
			user: holder.user ?? process?.user,
			name: holder.name ?? process?.name,
			commandLine: holder.commandLine ?? process?.commandLine,
			containerId: holder.containerId ?? process?.containerId,
			isListed: process !== undefined,
			memoryUsedMiB: process?.memoryUsedMiB,
			isObserver: process === undefined && observers.has(holder.name ?? ''),
		};
	});
	const unexplained = isUnexplained(reading, listedMiB, thresholdMiB);
	const advice = adviceFor(holders, seen, unexplained);
	const isIdle =
		reading.memoryUsedMiB !== undefined &&
		reading.memoryUsedMiB <= thresholdMiB &&
		holders.every(({isObserver}) => isObserver);
	return {
		index: reading.index,
		memoryUsedMiB: reading.memoryUsedMiB,
		listedMiB,
		devices: seen.devices,
		holders,
		unreadable: seen.unreadable,
		advice: isIdle ? [{kind: 'nothing-held'}] : advice,
	};
}
