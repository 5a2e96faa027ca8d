import {readFileSync} from 'node:fs';
import process from 'node:process';

/** The kernel makes one in a fraction of the 4 ms in which node:crypto is loaded. */
const kernelFile = '/proc/sys/kernel/random/uuid';

/** A random UUID. */
export function randomId(file = kernelFile): string {
	try {
		const id = readFileSync(file, 'utf8').trim();
		if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/v.test(id)) {
			return id;
		}
	} catch {}

	return process.getBuiltinModule('node:crypto').randomUUID();
}
