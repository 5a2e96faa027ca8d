/** Caches compiled code in a directory of this user, so that the program starts faster. Failures are silent. */
import {mkdirSync, statSync} from 'node:fs';
// A named import would fail on an old Node before this program can print that Node is too old.
import module from 'node:module';
import {homedir} from 'node:os';
import path from 'node:path';
import process from 'node:process';

/** Whether only this account can write to the directory. Otherwise another account could make this program run other code. */
function isOurs(directory: string): boolean {
	const {uid, mode} = statSync(directory);
	// eslint-disable-next-line no-bitwise -- the permissions of group and others to write
	return uid === process.geteuid?.() && (mode & 0o022) === 0;
}

export function keepCompiledCode(): void {
	if (process.versions['bun'] !== undefined) {
		// The code in a Bun binary is already compiled.
		return;
	}

	const given = process.env['XDG_CACHE_HOME'];
	const isGiven = given !== undefined && path.isAbsolute(given);
	try {
		// Never creates a directory in another account's home, which HOME can name after `sudo`.
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
