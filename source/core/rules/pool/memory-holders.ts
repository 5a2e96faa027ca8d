import type {DeviceHolder, DeviceHolders, HolderState} from '../../model/device-holders.js';
import type {GpuProcess, GpuReading} from '../../model/types.js';
import {memoryOf} from '../usage/share-usage.js';

export type MemoryHolder = DeviceHolder & {
	readonly isListed: boolean;
	readonly memoryUsedMiB: number | undefined;
	/** Whether the process holds no memory and only reads the device's state, as a monitoring service does. */
	readonly isObserver: boolean;
};

/** Advice to the user about the memory in use. Shown in this order. */
export type HolderAdvice =
	| {readonly kind: 'nothing-held'}
	/** This user has processes that hold memory, and the tool does not list these processes. */
	| {readonly kind: 'end-own'; readonly pids: readonly number[]}
	| {readonly kind: 'ask'; readonly user: string | undefined; readonly pids: readonly number[]}
	| {readonly kind: 'stop-container'; readonly containerId: string; readonly pids: readonly number[]}
	/** Stopped processes keep their memory until they continue. */
	| {readonly kind: 'stopped'; readonly pids: readonly number[]}
	/** Processes that wait inside the driver ignore signals. */
	| {readonly kind: 'stuck'; readonly pids: readonly number[]}
	/** A process has ended and keeps its memory until its parent reaps it or ends. */
	| {readonly kind: 'zombie'; readonly pid: number; readonly parentPid: number | undefined}
	/** The tool lists pids that this process cannot see, as in a container. */
	| {readonly kind: 'out-of-sight'; readonly pids: readonly number[]}
	/** Processes that this account cannot inspect may hold memory, too. Root can inspect them. */
	| {readonly kind: 'look-as-root'; readonly count: number; readonly users: readonly string[]}
	| {readonly kind: 'no-devices'}
	/** Processes that the tool lists have the GPU open, and may hold more memory than the tool shows. */
	| {readonly kind: 'listed'; readonly pids: readonly number[]}
	/** The driver has kept the memory, and no process has the GPU open. */
	| {readonly kind: 'kept-by-driver'};

export type HoldersReport = {
	readonly index: number;
	readonly memoryUsedMiB: number | undefined;
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

const livingStates: ReadonlySet<HolderState> = new Set(['running', 'leaderless', 'stopped']);

const certainKinds: ReadonlySet<HolderAdvice['kind']> = new Set(['zombie', 'stuck', 'out-of-sight']);

const pidsOf = (holders: readonly MemoryHolder[]): readonly number[] => holders.map(({pid}) => pid);

/** Whether more memory is in use than the driver and the listed processes need. True if unknown. */
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
		// If the listed processes explain the memory, a process that merely has the device open need not end.
		return found.filter(({kind}) => certainKinds.has(kind));
	}

	if (devices.length === 0) {
		return [...found, {kind: 'no-devices'}];
	}

	if (unreadable.count > 0) {
		return [...found, {kind: 'look-as-root', ...unreadable}];
	}

	if (found.length > 0) {
		return found;
	}

	const open = living.filter(({isObserver, hasOpen}) => !isObserver && hasOpen !== false);
	return [open.length === 0 ? {kind: 'kept-by-driver'} : {kind: 'listed', pids: pidsOf(open)}];
}

/**
Reports who holds the memory of a GPU. `seen` are processes that have its devices open or that the GPU tool lists.
`thresholdMiB` is how much memory the driver may use.
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
