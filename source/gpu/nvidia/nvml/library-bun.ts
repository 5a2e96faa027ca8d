/** Counterpart of `library.ts` for Bun, where koffi's addon cannot be part of a single file. */
import {dlopen} from 'bun:ffi';
import type {NativeFunction, NativeLibrary, Parameter} from './library.js';

const nativeTypes = {handle: 'u64', number: 'u32', long: 'u64', memory: 'ptr'} as const;

/** No library has it. */
const noFunction = 'no function of any library';

/**
@param file - A path, or a name for the system's loader to find. Where that finds none, Bun looks in the working directory as well.
@throws Error when it cannot be loaded.
*/
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
