/**
The one place where code of others is loaded into our process: functions by name, called with numbers and memory. In Bun
`library-bun.ts` stands in for this file.
*/
import koffi from 'koffi';

/** `handle`: 64 bits, ours to keep and to give back only. `memory`: read or written by the function. */
export type Parameter = 'handle' | 'number' | 'long' | 'memory';

export type Argument = bigint | number | Uint8Array;

/** Each function of the library gives back a code; 0 is good. */
export type NativeFunction = (...given: readonly Argument[]) => number;

export type NativeLibrary = {
	/** Undefined when this version of the library has no such function. */
	readonly find: (name: string, parameters: readonly Parameter[]) => NativeFunction | undefined;
};

const nativeTypes = {handle: 'uint64_t', number: 'uint32_t', long: 'uint64_t', memory: 'void *'} as const;

/**
@param file - A path, or a name for the system's loader to find.
@throws Error when it cannot be loaded.
*/
export const openLibrary = (file: string): NativeLibrary => {
	const library = koffi.load(file);
	return {
		find(name, parameters) {
			try {
				return library.func(
					name,
					'int',
					parameters.map((parameter) => nativeTypes[parameter]),
				);
			} catch {
				return undefined;
			}
		},
	};
};
