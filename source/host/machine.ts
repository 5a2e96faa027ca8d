import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import os from 'node:os';
import process from 'node:process';

const idFiles = ['/etc/machine-id', '/var/lib/dbus/machine-id'];

const findId = (files: readonly string[]): string | undefined =>
	// An image not yet booted holds the word `uninitialized`.
	files.map((file) => readLine(file)).find((id) => id !== undefined && /^[\da-f]{32}$/v.test(id) && !/^0+$/v.test(id));

/** Whether this installation has an id of its own. */
export const hasMachineId = (): boolean => findId(idFiles) !== undefined;

/**
An id of this installation that outlives reboots: 32 hex digits from machine-id(5), or, where there is none (some containers,
other systems), a digest of the host name, which changes only with that name.
*/
export const readMachineId = (files: readonly string[] = idFiles, hostname = os.hostname()): string => {
	const id = findId(files);
	if (id !== undefined) {
		return id;
	}

	// Hardly any machine comes here, and the module takes a while to load.
	const {createHash} = process.getBuiltinModule('node:crypto');
	return createHash('sha256').update(`canhazgpu machine ${hostname}`).digest('hex').slice(0, 32);
};

/**
An id of this run of the kernel. Undefined where no system source gives one, as in a service with `ProcSubset=pid`: a constant in its
place would differ from the real id of others, and so declare every running job dead.
*/
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
