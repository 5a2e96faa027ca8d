/** The lines that were typed into the monitor's command line, for this user, newest last. */
import {readUserFile, writeUserFile} from './user-file.js';

const mostLines = 500;
/** Whatever is longer was not written by us. */
const mostCharacters = 200_000;
const longestBytes = 5 * mostCharacters;

export type LineHistory = {
	readonly load: () => readonly string[];
	readonly add: (line: string) => void;
};

export function createLineHistory(file: string): LineHistory {
	const load = (): readonly string[] => {
		const lines = readUserFile(file, longestBytes)?.slice(-mostCharacters).split('\n') ?? [];
		return lines.filter((line) => line !== '').slice(-mostLines);
	};

	return {
		load,
		add(line) {
			// Read again: other monitors of this user write it, too.
			const lines = [...load().filter((other) => other !== line), line].slice(-mostLines);
			writeUserFile(file, `${lines.join('\n')}\n`);
		},
	};
}
