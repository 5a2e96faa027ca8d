import process from 'node:process';

type Origin = {
	readonly machineId: string;
	readonly bootId: string | undefined;
	readonly timeNamespace: string | undefined;
};

/**
Returns an id of the monotonic clock, which restarts with each boot, and which a time namespace can shift. If the boot is unknown, uses the machine's
id, which does not show a reboot. After a reboot, a lease then counts as ended if it had no recent heartbeat before the reboot.
*/
export const monotonicClockId = ({machineId, bootId, timeNamespace}: Origin): string =>
	[bootId ?? `unknown-boot-of-${machineId}`, ...(timeNamespace === undefined ? [] : [timeNamespace])].join('/');

type Ffi = {
	readonly dlopen: (
		file: string,
		functions: {readonly clock_gettime: {readonly args: readonly ['int', 'ptr']; readonly returns: 'int'}},
	) => {readonly symbols: {readonly clock_gettime: (clock: number, time: BigInt64Array) => number}};
};

const clockMonotonic = 1;

type ReadClock = () => number | undefined;

/** Returns a function that reads the kernel's clock, because in Bun, `process.hrtime` counts from the start of the process. */
const openClockInBun = (): ReadClock => {
	try {
		const {dlopen} = (process.getBuiltinModule as (id: string) => unknown)('bun:ffi') as Ffi;
		const {symbols} = dlopen('libc.so.6', {clock_gettime: {args: ['int', 'ptr'], returns: 'int'}});
		const time = new BigInt64Array(2);
		return () =>
			symbols.clock_gettime(clockMonotonic, time) === 0 ? Number(time[0]) + Number(time[1]) / 1e9 : undefined;
	} catch {
		return () => undefined;
	}
};

/** The kernel's clock in Bun. Opened on first use, which is rare: when a lease has sent no heartbeat for a while. */
let clockInBun: ReadClock | undefined;

const monotonicSecondsInBun: ReadClock = () => {
	clockInBun ??= openClockInBun();
	return clockInBun();
};

/** Returns CLOCK_MONOTONIC in seconds, which is the same for all processes of this boot and time namespace. Undefined if unavailable. */
export const monotonicSeconds = (): number | undefined =>
	process.versions['bun'] === undefined ? Number(process.hrtime.bigint()) / 1e9 : monotonicSecondsInBun();
