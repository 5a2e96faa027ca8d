/** Replaces `library.ts` in Bun, because a single-file binary cannot contain koffi's addon. */
import {dlopen} from 'bun:ffi';
import type {NativeFunction, NativeLibrary, Parameter} from './library.js';

const nativeTypes = {handle: 'u64', number: 'u32', long: 'u64', memory: 'ptr'} as const;

const noFunction = 'no function of any library';

/** Opens a library. `file` is a path, or a name for the system's loader, which is also searched for in the working directory. Throws Error. */
export const openLibrary = (file: string): NativeLibrary => {
	const find = (name: string, parameters: readonly Parameter[]): NativeFunction | undefined => {
		try {
			// Functions are loaded one by one, because dlopen fails for all if one is missing.
			const library = dlopen(file, {
				[name]: {args: parameters.map((parameter) => nativeTypes[parameter]), returns: 'i32'},
			});
			return (...given) => library.symbols[name]!(...given);
		} catch (error) {
			if (error instanceof TypeError) {
				return undefined;
			}

			throw error;
		}
	};

	find(noFunction, []);
	return {find};
};
