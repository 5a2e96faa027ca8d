import {readdir, readFile} from 'node:fs/promises';
import path from 'node:path';

/**
Where the driver lists its GPUs, one directory a PCI address. Not there under WSL.
*/
export const driverGpusDirectory = '/proc/driver/nvidia/gpus';

/**
How many GPUs the driver has, without asking them anything, so it answers at once even while one of them hangs. GPUs that an
administrator excluded are in the list but no tool shows them. Undefined when the driver keeps no such list.
*/
export const countDriverGpus = async (directory = driverGpusDirectory): Promise<number | undefined> => {
	try {
		const entries = await readdir(directory);
		const visible = await Promise.all(entries.map(async (entry) => !(await isExcluded(path.join(directory, entry)))));
		return visible.filter(Boolean).length;
	} catch {
		return undefined;
	}
};

const isExcluded = async (directory: string): Promise<boolean> => {
	try {
		const information = await readFile(path.join(directory, 'information'), 'utf8');
		return /^gpu excluded:\s*yes\b/imv.test(information);
	} catch {
		return false;
	}
};
