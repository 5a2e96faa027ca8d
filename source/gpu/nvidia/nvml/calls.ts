/** Calls functions of NVML, as declared in the public header nvml.h. */
import type {Argument, NativeFunction, NativeLibrary, Parameter} from './library.js';

export type Answer<Value> = {readonly value: Value} | {readonly no: Refusal};

/** A code of `nvmlReturn_t`, or `missing` for a function that the library lacks. */
export type Refusal = number | 'missing';

/** Codes of `nvmlReturn_t`. */
export const codes = {
	success: 0,
	notSupported: 3,
	noPermission: 4,
	notFound: 6,
	insufficientSize: 7,
	functionNotFound: 13,
	gpuIsLost: 15,
	resetRequired: 16,
	versionMismatch: 25,
	unknown: 999,
} as const;

export type Calls = {
	/** Calls the first of the named functions that exists in the library and the driver. */
	readonly call: (names: readonly string[], parameters: readonly Parameter[], ...given: readonly Argument[]) => Refusal;
};

export const createCalls = (library: NativeLibrary): Calls => {
	const found = new Map<string, NativeFunction | undefined>();
	const find = (name: string, parameters: readonly Parameter[]): NativeFunction | undefined => {
		if (!found.has(name)) {
			found.set(name, library.find(name, parameters));
		}

		return found.get(name);
	};

	return {
		call(names, parameters, ...given) {
			for (const name of names) {
				const code = find(name, parameters)?.(...given);
				// A library can be newer than the driver and have functions that the driver lacks.
				if (code !== undefined && code !== codes.functionNotFound) {
					return code;
				}
			}

			return 'missing';
		},
	};
};

type Question = {
	readonly handle?: bigint | undefined;
	readonly numbers?: readonly number[];
	readonly size?: number;
	/** Whether the function takes the size of the buffer as an argument after the buffer. */
	readonly isSizeGiven?: boolean;
};

/** Calls a function with a handle, numbers and a buffer, and reads what the function wrote to the buffer. */
export const ask = <Value>(
	calls: Calls,
	names: readonly string[],
	{handle, numbers = [], size = 4, isSizeGiven = false}: Question,
	read: (memory: DataView) => Value,
): Answer<Value> => {
	const memory = new Uint8Array(size);
	const own = handle === undefined ? [] : [handle];
	const sizes = isSizeGiven ? [size] : [];
	const asNumbers = (some: readonly number[]) => some.map(() => 'number' as const);
	const code = calls.call(
		names,
		[...own.map(() => 'handle' as const), ...asNumbers(numbers), 'memory', ...asNumbers(sizes)],
		...own,
		...numbers,
		memory,
		...sizes,
	);
	return code === codes.success ? {value: read(new DataView(memory.buffer))} : {no: code};
};

export const askText = (calls: Calls, name: string, handle?: bigint): Answer<string> =>
	ask(calls, [name], {handle, size: 256, isSizeGiven: true}, ({buffer}) => textIn(new Uint8Array(buffer)));

export const textIn = (memory: Uint8Array): string => {
	const end = memory.indexOf(0);
	return new TextDecoder().decode(memory.subarray(0, end === -1 ? memory.length : end));
};

export const integerAt = (memory: DataView, offset = 0): number => memory.getUint32(offset, true);
export const longAt = (memory: DataView, offset = 0): bigint => memory.getBigUint64(offset, true);

export const inMebibytes = (bytes: bigint): number => Math.floor(Number(bytes) / 2 ** 20);

/** The words of nvidia-smi for a missing reading, by the library's code. */
const words: ReadonlyMap<Refusal, string> = new Map<Refusal, string>([
	['missing', '[Not Supported]'],
	[2, '[Invalid Argument]'],
	[codes.notSupported, '[Not Supported]'],
	[codes.noPermission, '[Insufficient Permissions]'],
	[codes.notFound, '[Not Found]'],
	[10, '[Timeout]'],
	[11, '[Interrupt Request Issue]'],
	[codes.functionNotFound, '[Not Supported]'],
	[codes.gpuIsLost, '[GPU is lost]'],
	[codes.resetRequired, '[GPU requires reset]'],
	[17, '[GPU access blocked by the operating system]'],
	// The library does not know this version of the structure.
	[codes.versionMismatch, '[Not Supported]'],
	[26, '[Requested functionality has been deprecated]'],
	[codes.unknown, '[Unknown Error]'],
]);

export const wordOf = (no: Refusal): string => words.get(no) ?? `[NVML error ${no}]`;
