import {existsSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

export type Recordings = {
	readonly isHere: boolean;
	/** Paths below the vendor's folder, sorted. */
	readonly files: readonly string[];
	readonly read: (file: string) => string;
};

/**
Real outputs of GPU tools, which are kept next to the repository and not in it. If they are missing, prints a message, and their tests are reported as
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
