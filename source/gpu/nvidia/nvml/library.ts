/** Finds functions of a native library by name, and calls them with numbers and buffers. In Bun, `library-bun.ts` replaces this file. */
import koffi from 'koffi';

/** `handle`: an opaque 64-bit value. `memory`: read or written by the function. */
export type Parameter = 'handle' | 'number' | 'long' | 'memory';

export type Argument = bigint | number | Uint8Array;

/** A function of the library. Every function returns a code. 0 means success. */
export type NativeFunction = (...given: readonly Argument[]) => number;

export type NativeLibrary = {
	/** Returns a function. Undefined if this version of the library lacks the function. */
	readonly find: (name: string, parameters: readonly Parameter[]) => NativeFunction | undefined;
};

const nativeTypes = {handle: 'uint64_t', number: 'uint32_t', long: 'uint64_t', memory: 'void *'} as const;

/** Opens a library. `file` is a path, or a name for the system's loader. Throws Error if the library cannot be loaded. */
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
