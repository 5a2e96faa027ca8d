import {readdir} from 'node:fs/promises';
import path from 'node:path';
import type {RunTool} from '../../tool/tool.js';

/** Directory where the driver lists its GPUs by PCI address. Missing under WSL. */
export const driverGpusDirectory = '/proc/driver/nvidia/gpus';

/** Returns the GPUs' directories, or none if the driver has no such list. Queries no GPU, so it returns at once even if a GPU hangs. */
export const listDriverGpus = async (directory: string): Promise<readonly string[]> => {
	try {
		const names = await readdir(directory);
		return names.map((name) => path.join(directory, name));
	} catch {
		return [];
	}
};

type DriverGpu = {
	readonly directory: string;
	/** The number in the name of the GPU's device. */
	readonly minor: string | undefined;
	/** Whether an administrator has excluded the GPU. No tool shows such a GPU. */
	readonly isExcluded: boolean;
};

/** Reads the driver's facts about its GPUs in a child process, because reading can hang. If it hangs, minor numbers and exclusions are missing. */
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
