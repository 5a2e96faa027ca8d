import {existsSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

export type Recordings = {
	readonly isHere: boolean;
	/** Sorted paths in the folder of the vendor. */
	readonly files: readonly string[];
	readonly read: (file: string) => string;
};

/**
Opens recorded output of real GPU tools, which is kept outside the repository. If it is missing, prints a message, and the tests that use it are
skipped.
*/
export function openRecordings(maker: 'nvidia' | 'amd'): Recordings {
	const folder = fileURLToPath(new URL(`../../../shared/fixtures/${maker}/`, import.meta.url));
	const isHere = existsSync(folder);
	if (!isHere) {
		console.warn(`No recorded outputs of ${maker}'s tools beside this repository: the tests over them are skipped.`);
	}

	return {
		isHere,
		files: isHere
			? readdirSync(folder, {recursive: true, withFileTypes: true})
					.filter((entry) => entry.isFile())
					.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
					.toSorted()
			: [],
		read: (file) => readFileSync(path.join(folder, file), 'utf8'),
	};
}
