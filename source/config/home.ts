import {homedir} from 'node:os';
import path from 'node:path';

/** Returns the home directory. Undefined if HOME is relative, or unset for an account without an entry in /etc/passwd, as in many containers. */
export function findHome(): string | undefined {
	try {
		const home = homedir();
		return path.isAbsolute(home) ? home : undefined;
	} catch {
		return undefined;
	}
}
