import {homedir} from 'node:os';
import path from 'node:path';

/**
Returns the home directory of this account. Undefined where there is none: HOME is not set and the account has no entry in /etc/passwd, as in
many containers, or HOME is not an absolute path.
*/
export function findHome(): string | undefined {
	try {
		const home = homedir();
		return path.isAbsolute(home) ? home : undefined;
	} catch {
		return undefined;
	}
}
