import {writeSync} from 'node:fs';
import packageJson from '../../../package.json' with {type: 'json'};

export const {version} = packageJson;

/** Prints the version. Returns false if that failed: the program then prints it again, and reports why it cannot. */
export function printVersion(): boolean {
	try {
		writeSync(1, `${version}\n`);
		return true;
	} catch {
		return false;
	}
}
