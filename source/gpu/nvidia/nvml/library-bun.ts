/** As `library.ts`, where the program runs in Bun: koffi's addon cannot be in one file with it. */
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
			// One at a time: where one is missing, it gives none of them.
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
