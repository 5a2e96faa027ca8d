/**
The lines that were typed into the monitor's command line, for this user, newest last. Only a help for the next time: nothing here
ever fails.
*/
import {mkdirSync, renameSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {findUnsafePlace, isOurs, readSafely} from '../security/safe-file.js';

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
		const read = readSafely(file, {
			longestBytes,
			followsLinks: true,
			judge: (status) => (isOurs(status) ? undefined : 'it is of another account'),
		});
		// There is none yet, or it cannot be read: then it begins here.
		const lines = read.kind === 'read' ? read.text.slice(-mostCharacters).split('\n') : [];
		return lines.filter((line) => line !== '').slice(-mostLines);
	};

	return {
		load,
		add(line) {
			// Read again: other monitors of this user write it, too.
			const lines = [...load().filter((other) => other !== line), line].slice(-mostLines);
			const directory = path.dirname(file);
			const temporary = `${file}.${crypto.randomUUID()}`;
			try {
				// The home that root kept belongs to somebody who may have put links there, and could not enter what root makes there.
				if (findUnsafePlace(directory, {trustsOwner: false}) !== undefined) {
					return;
				}

				mkdirSync(directory, {recursive: true, mode: 0o700});
				if (!isOurs(statSync(directory))) {
					return;
				}

				writeFileSync(temporary, `${lines.join('\n')}\n`, {mode: 0o600, flag: 'wx'});
				renameSync(temporary, file);
			} catch {
				// A home that cannot be written is no reason to fail.
			}
		},
	};
}
