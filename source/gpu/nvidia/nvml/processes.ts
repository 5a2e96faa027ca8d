import type {ProcessRow} from '../../tool/process-rows.js';
import {codes, inMebibytes, integerAt, longAt, type Calls, type Refusal, type Answer} from './calls.js';

/** Marks an unavailable value, such as the memory of a process under WSL. */
const notAvailable = 0xff_ff_ff_ff_ff_ff_ff_ffn;

const mostProcesses = 65_536;

/** Returns the versions of a function, with the size of a process entry: pid at 0, memory at 8, and in later versions the MIG ids at 16 and 20. */
const variants = (name: string) => [
	{name: `${name}_v3`, size: 24},
	{name: `${name}_v2`, size: 24},
	{name, size: 16},
];

/** Calls a function that fills a list. If the buffer was too small, calls it again with a larger one. */
const fill = (size: number, call: (count: Uint8Array, room: Uint8Array) => Refusal): Answer<readonly DataView[]> => {
	let capacity = 64;
	for (;;) {
		const count = new Uint8Array(4);
		const counted = new DataView(count.buffer);
		counted.setUint32(0, capacity, true);
		const room = new Uint8Array(capacity * size);
		const code = call(count, room);
		const available = integerAt(counted);
		if (code === codes.success) {
			const length = Math.min(available, capacity);
			return {value: Array.from({length}, (_, index) => new DataView(room.buffer, index * size, size))};
		}

		if (code !== codes.insufficientSize || capacity >= mostProcesses) {
			return {no: code};
		}

		// Leaves room for more processes, which may start meanwhile.
		capacity = Math.min(mostProcesses, Math.max(capacity * 2, available * 2));
	}
};

const listOf = (calls: Calls, handle: bigint, name: string): Answer<readonly ProcessRow[]> => {
	for (const variant of variants(name)) {
		const answer = fill(variant.size, (count, room) =>
			calls.call([variant.name], ['handle', 'memory', 'memory'], handle, count, room),
		);
		if (!('no' in answer && answer.no === 'missing')) {
			return 'no' in answer ? answer : {value: answer.value.map((entry) => readRow(entry))};
		}
	}

	return {no: 'missing'};
};

/** Marks a process on a GPU without instances. */
const noPart = 0xff_ff_ff_ff;

/** Returns the MIG instance of a process. Empty for an entry of an old version, or a GPU without instances. */
const partOf = (entry: DataView): Pick<ProcessRow, 'gpuInstanceId' | 'computeInstanceId'> => {
	if (entry.byteLength < 24) {
		return {};
	}

	const [gpuInstanceId, computeInstanceId] = [integerAt(entry, 16), integerAt(entry, 20)];
	return gpuInstanceId === noPart || computeInstanceId === noPart ? {} : {gpuInstanceId, computeInstanceId};
};

const readRow = (entry: DataView): ProcessRow => {
	const used = longAt(entry, 8);
	return {
		pid: integerAt(entry),
		memoryUsedMiB: used === notAvailable ? undefined : inMebibytes(used),
		...partOf(entry),
	};
};

/** Returns how much of the GPU each process used since the last scan, by pid. Unknown on some GPUs, and for accounts without permission. */
export const readUtilization = (
	calls: Calls,
	handle: bigint,
	sinceMicroseconds: number,
): {readonly byPid: ReadonlyMap<number, number>; readonly latest: number} => {
	// The entry of each process has the pid at 0, the time at 8 and the utilization at 16.
	const answer = fill(32, (count, room) =>
		calls.call(
			['nvmlDeviceGetProcessUtilization'],
			['handle', 'memory', 'memory', 'long'],
			handle,
			room,
			count,
			BigInt(sinceMicroseconds),
		),
	);
	const byPid = new Map<number, number>();
	const times = new Map<number, number>();
	let latest = sinceMicroseconds;
	for (const sample of 'value' in answer ? answer.value : []) {
		const pid = integerAt(sample);
		const time = Number(longAt(sample, 8));
		const percent = integerAt(sample, 16);
		latest = Math.max(latest, time);
		if (!(percent <= 100 && time >= (times.get(pid) ?? 0))) {
			continue;
		}

		times.set(pid, time);
		byPid.set(pid, percent);
	}

	return {byPid, latest};
};

/** Returns all processes of a GPU without duplicates, or a refusal if the compute processes are unknown. */
export const readProcesses = (calls: Calls, handle: bigint): Answer<readonly ProcessRow[]> => {
	const computing = listOf(calls, handle, 'nvmlDeviceGetComputeRunningProcesses');
	if ('no' in computing) {
		return computing;
	}

	const drawing = listOf(calls, handle, 'nvmlDeviceGetGraphicsRunningProcesses');
	const graphics = new Map(('value' in drawing ? drawing.value : []).map((row) => [row.pid, row]));
	const compute = new Set(computing.value.map(({pid}) => pid));
	const both = computing.value.map((row) => ({
		...row,
		kind: graphics.has(row.pid) ? ('both' as const) : ('compute' as const),
	}));
	const others = graphics.values().filter(({pid}) => !compute.has(pid));
	return {value: [...both, ...others.map((row) => ({...row, kind: 'graphics' as const}))]};
};
