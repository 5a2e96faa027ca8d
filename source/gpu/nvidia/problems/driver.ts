import {readdir} from 'node:fs/promises';
import path from 'node:path';
import type {RunTool} from '../../tool/tool.js';

/** Where the driver lists its GPUs, one directory a PCI address. Not there under WSL. */
export const driverGpusDirectory = '/proc/driver/nvidia/gpus';

/**
The directories of that list; none when the driver keeps no such list. Asks the GPUs nothing, so it answers at once even while one
of them hangs.
*/
export const listDriverGpus = async (directory: string): Promise<readonly string[]> => {
	try {
		const names = await readdir(directory);
		return names.map((name) => path.join(directory, name));
	} catch {
		return [];
	}
};

/**
How many GPUs the driver lists, without those that an administrator excluded, which no tool shows either; 0 when it keeps no list.

Whether one is excluded stands in a file that the driver writes while it is read, and may hang over: so a child reads it. One that
does not answer in time counts as not excluded.
*/
export const countDriverGpus = async (run: RunTool, directory: string): Promise<number> => {
	const gpus = await listDriverGpus(directory);
	if (gpus.length === 0) {
		return 0;
	}

	const files = gpus.map((gpu) => path.join(gpu, 'information'));
	const {stdout} = await run('grep', ['-il', '^gpu excluded:[[:space:]]*yes', ...files], {timeoutMs: 1000});
	return gpus.length - stdout.split('\n').filter((file) => file !== '').length;
};
