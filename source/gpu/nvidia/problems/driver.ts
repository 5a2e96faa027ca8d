import {readdir} from 'node:fs/promises';
import path from 'node:path';
import type {RunTool} from '../../tool/tool.js';

/** Directory where the driver lists its GPUs by PCI address. Missing under WSL. */
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

/** The driver's facts about a GPU. */
type DriverGpu = {
	readonly directory: string;
	/** The number in the name of its device. */
	readonly minor: string | undefined;
	/** An administrator has excluded it: no tool shows it anywhere. */
	readonly isExcluded: boolean;
};

/**
Reads the driver's facts about its GPUs. The driver creates these files while they are read, which can hang, so a child process reads them.
Without an answer in time, no GPU has a minor number or is excluded.
*/
export const readDriverGpus = async (run: RunTool, gpusDirectory: string): Promise<readonly DriverGpu[]> => {
	const directories = await listDriverGpus(gpusDirectory);
	if (directories.length === 0) {
		return [];
	}

	const files = directories.map((directory) => path.join(directory, 'information'));
	const {stdout} = await run('grep', ['-HiE', '^(device minor|gpu excluded):', ...files], {timeoutMs: 1000});
	const lines = stdout.split('\n');
	return directories.map((directory) => {
		const own = lines.filter((line) => line.startsWith(`${directory}/`)).map((line) => line.toLowerCase());
		return {
			directory,
			minor: own.map((line) => /device minor:\s*(?<minor>\d+)/v.exec(line)?.groups?.['minor']).find(Boolean),
			isExcluded: own.some((line) => /gpu excluded:\s*yes/v.test(line)),
		};
	});
};
