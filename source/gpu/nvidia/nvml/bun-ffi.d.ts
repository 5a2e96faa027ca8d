/** The part of Bun's FFI that is used here. `ptr` takes memory. */
declare module 'bun:ffi' {
	type ForeignFunction = {readonly args: readonly string[]; readonly returns: 'i32'};

	/** Throws TypeError if the library lacks one of the functions, and another Error if it cannot be loaded. */
	export const dlopen: <Name extends string>(
		file: string,
		functions: Readonly<Record<Name, ForeignFunction>>,
	) => {readonly symbols: Readonly<Record<Name, (...given: ReadonlyArray<bigint | number | Uint8Array>) => number>>};
}
