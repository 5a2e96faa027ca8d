import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import os from 'node:os';
import process from 'node:process';

const idFiles = ['/etc/machine-id', '/var/lib/dbus/machine-id'];

const findId = (files: readonly string[]): string | undefined =>
	// An image that was never booted contains the word `uninitialized`.
	files.map((file) => readLine(file)).find((id) => id !== undefined && /^[\da-f]{32}$/v.test(id) && !/^0+$/v.test(id));

export const hasMachineId = (): boolean => findId(idFiles) !== undefined;

/** Returns an id that survives reboots: 32 hex digits from machine-id(5), or a digest of the host name if there is no machine id. */
export const readMachineId = (files: readonly string[] = idFiles, hostname = os.hostname()): string => {
	const id = findId(files);
	if (id !== undefined) {
		return id;
	}

	// Few machines need this module, and loading takes a while.
	const {createHash} = process.getBuiltinModule('node:crypto');
	return createHash('sha256').update(`canhazgpu machine ${hostname}`).digest('hex').slice(0, 32);
};

/** Returns an id of this boot. Undefined if unknown, as in a service with `ProcSubset=pid`. Never a constant, which would look like a reboot. */
export const readBootId = (file = '/proc/sys/kernel/random/boot_id'): string | undefined =>
	readLine(file) ?? readBootSession();

const readBootSession = (): string | undefined => {
	if (process.platform !== 'darwin') {
		return undefined;
	}

	const {status, stdout} = spawnSync('sysctl', ['-n', 'kern.bootsessionuuid'], {encoding: 'utf8', timeout: 2000});
	return status === 0 ? nonEmpty(stdout) : undefined;
};

const readLine = (file: string): string | undefined => {
	try {
		return nonEmpty(readFileSync(file, 'utf8'));
	} catch {
		return undefined;
	}
};

const nonEmpty = (text: string): string | undefined => {
	const trimmed = text.trim();
	return trimmed === '' ? undefined : trimmed;
};
