import {writeSync} from 'node:fs';
import packageJson from '../../../package.json' with {type: 'json'};

export const {version} = packageJson;

/** Prints the version. Returns false on failure, so that the program tries again and reports the error. */
export function printVersion(): boolean {
	try {
		writeSync(1, `${version}\n`);
		return true;
	} catch {
		return false;
	}
}
