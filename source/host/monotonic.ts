/** The clock that all processes of one boot share, and that no step of the date moves. */
import process from 'node:process';

type Origin = {
	readonly machineId: string;
	readonly bootId: string | undefined;
	readonly timeNamespace: string | undefined;
};

/**
Names the clock: it starts again with each boot, and a time namespace may shift it. Where the boot is unknown it is that of the machine:
readings from before a reboot are compared then, and a lease that was silent before it has ended with it.
*/
export const monotonicClockId = ({machineId, bootId, timeNamespace}: Origin): string =>
	[bootId ?? `unknown-boot-of-${machineId}`, ...(timeNamespace === undefined ? [] : [timeNamespace])].join('/');

/** The part of `bun:ffi` that is used here. */
type Ffi = {
	readonly dlopen: (
		file: string,
		functions: {readonly clock_gettime: {readonly args: readonly ['int', 'ptr']; readonly returns: 'int'}},
	) => {readonly symbols: {readonly clock_gettime: (clock: number, time: BigInt64Array) => number}};
};

/** CLOCK_MONOTONIC of Linux. */
const clockMonotonic = 1;

type ReadClock = () => number | undefined;

/** Bun counts `process.hrtime` from the start of the process, so there the kernel is asked. */
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

/** Opened when it is first needed, which is seldom: when a lease is silent. */
let clockInBun: ReadClock | undefined;

const monotonicSecondsInBun: ReadClock = () => {
	clockInBun ??= openClockInBun();
	return clockInBun();
};

/** Returns CLOCK_MONOTONIC in seconds, which is the same for all processes of this boot and time namespace. Undefined if unavailable. */
export const monotonicSeconds = (): number | undefined =>
	process.versions['bun'] === undefined ? Number(process.hrtime.bigint()) / 1e9 : monotonicSecondsInBun();
