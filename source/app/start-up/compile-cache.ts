/**
Spares every start the compiling of our own code: Node keeps the result in a directory of this user's. Only a help: where it cannot
be kept, nothing is said.
*/
import {mkdirSync, statSync} from 'node:fs';
// Not by name: a Node without it must come as far as to say that it is too old.
import module from 'node:module';
import {homedir} from 'node:os';
import path from 'node:path';
import process from 'node:process';

/** An account that can write there can make us run anything: it must be ours alone. With `sudo`, the home may be another account's. */
function isOurs(directory: string): boolean {
	const {uid, mode} = statSync(directory);
	// eslint-disable-next-line no-bitwise -- the permissions of group and others to write
	return uid === process.geteuid?.() && (mode & 0o022) === 0;
}

/** For everything that is loaded from now on. */
export function keepCompiledCode(): void {
	if (process.versions['bun'] !== undefined) {
		// A binary holds it.
		return;
	}

	const given = process.env['XDG_CACHE_HOME'];
	const isGiven = given !== undefined && path.isAbsolute(given);
	try {
		// The nearest that must be there already: we make no directories in another account's.
		if (!isOurs(isGiven ? given : homedir())) {
			return;
		}

		const directory = path.join(isGiven ? given : path.join(homedir(), '.cache'), 'canhazgpu');
		mkdirSync(directory, {recursive: true, mode: 0o700});
		if (isOurs(directory)) {
			module.enableCompileCache(directory);
		}
	} catch {}
}
