import {homedir} from 'node:os';
import path from 'node:path';

/**
Returns the home directory of this account. Returns undefined if HOME is relative, or if HOME is not set and the account is not in /etc/passwd, as in
many containers.
*/
export function findHome(): string | undefined {
	try {
		const home = homedir();
		return path.isAbsolute(home) ? home : undefined;
	} catch {
		return undefined;
	}
}
