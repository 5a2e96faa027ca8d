/**
The lines that were typed into the monitor's command line, for this user, newest last. Only a help for the next time: nothing here
ever fails.
*/
import {mkdirSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const mostLines = 500;
/** Whatever is longer was not written by us. */
const mostCharacters = 200_000;

export type LineHistory = {
	readonly load: () => readonly string[];
	readonly add: (line: string) => void;
};

export function createLineHistory(file: string): LineHistory {
	const load = (): readonly string[] => {
		try {
			const lines = readFileSync(file, 'utf8').slice(-mostCharacters).split('\n');
			return lines.filter((line) => line !== '').slice(-mostLines);
		} catch {
			// There is none yet, or it cannot be read: then it begins here.
			return [];
		}
	};

	return {
		load,
		add(line) {
			// Read again: other monitors of this user write it, too.
			const lines = [...load().filter((other) => other !== line), line].slice(-mostLines);
			const temporary = `${file}.${process.pid}`;
			try {
				mkdirSync(path.dirname(file), {recursive: true, mode: 0o700});
				writeFileSync(temporary, `${lines.join('\n')}\n`, {mode: 0o600});
				renameSync(temporary, file);
			} catch {
				// A home that cannot be written is no reason to fail.
			}
		},
	};
}
