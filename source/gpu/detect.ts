import {access, constants, stat} from 'node:fs/promises';
import path from 'node:path';
import type {ProviderName} from '../core/types.js';
import {driverGpusDirectory, listDriverGpus} from './nvidia-driver.js';
import {explainFailure} from './nvidia-failures.js';
import {parseGpuTable} from './nvidia-gpus.js';
import type {RunTool} from './tool.js';

type Options = {
	readonly run: RunTool;
	/**
	Directories to look for tools in, parted by colons, as in `$PATH`.
	*/
	readonly searchPath: string;
	readonly timeoutMs?: number;
	readonly gpusDirectory?: string;
};

/**
`reason` tells the user why none was found.
*/
export type Detection = {readonly provider: ProviderName} | {readonly provider: undefined; readonly reason: string};

/**
Finds out what kind of GPUs this machine has. Where the tool is missing it starts nothing; where the driver lists its GPUs it
starts nothing either; else it asks the tool once.
*/
export const detectProvider = async ({
	run,
	searchPath,
	timeoutMs = 10_000,
	gpusDirectory = driverGpusDirectory,
}: Options): Promise<Detection> => {
	const command = 'nvidia-smi';
	if (!(await isOnPath(command, searchPath))) {
		return {provider: undefined, reason: `${command} is not in PATH.`};
	}

	const listed = await listDriverGpus(gpusDirectory);
	if (listed.length > 0) {
		return {provider: 'nvidia'};
	}

	const outcome = await run(command, ['--query-gpu=index', '--format=csv,nounits'], {timeoutMs});
	const gpus = outcome.failure === undefined ? parseGpuTable(outcome.stdout, outcome.stderr)?.gpus : undefined;
	return gpus !== undefined && gpus.length > 0
		? {provider: 'nvidia'}
		: {provider: undefined, reason: explainFailure(outcome, command, timeoutMs).message};
};

const isOnPath = async (command: string, searchPath: string): Promise<boolean> => {
	const directories = searchPath.split(path.delimiter).filter((directory) => path.isAbsolute(directory));
	const found = await Promise.all(directories.map(async (directory) => isProgram(path.join(directory, command))));
	return found.includes(true);
};

const isProgram = async (file: string): Promise<boolean> => {
	try {
		await access(file, constants.X_OK);
		const status = await stat(file);
		return status.isFile();
	} catch {
		return false;
	}
};
