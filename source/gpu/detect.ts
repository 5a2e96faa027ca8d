import {access, constants, stat} from 'node:fs/promises';
import path from 'node:path';
import {performance} from 'node:perf_hooks';
import type {ProviderName} from '../core/model/types.js';
import {createAmdProvider} from './amd/amd.js';
import {opening} from './nvidia/problems/unreachable-gpus.js';
import {driverGpusDirectory, listDriverGpus} from './nvidia/problems/driver.js';
import {explainFailure} from './nvidia/problems/failures.js';
import {parseGpuTable} from './nvidia/gpus.js';
import type {RunTool} from './tool/tool.js';

type Options = {
	readonly run: RunTool;
	/** Directories with tools, separated by colons as in `$PATH`. */
	readonly searchPath: string;
	readonly timeoutMs?: number;
	readonly gpusDirectory?: string;
};

type Detection =
	/** `others`: other kinds of GPUs in this machine. */
	| {readonly provider: ProviderName; readonly others: readonly ProviderName[]}
	| {readonly provider: undefined; readonly reason: string};

/** Detects the kind of GPUs in this machine. Runs each installed tool once, except nvidia-smi if the driver's files already list GPUs. */
export const detectProvider = async (options: Options): Promise<Detection> => {
	const [nvidia, ...amd] = await Promise.all(
		['nvidia-smi', 'amd-smi', 'rocm-smi'].map(async (command) => isOnPath(command, options.searchPath)),
	);
	const reasons: string[] = [];
	if (nvidia === true) {
		const reason = await missesNvidia(options);
		if (reason === undefined) {
			const hasAmd = amd.includes(true) && (await missesAmd(options)) === undefined;
			return {provider: 'nvidia', others: hasAmd ? ['amd'] : []};
		}

		reasons.push(reason);
	}

	if (amd.includes(true)) {
		const reason = await missesAmd(options);
		if (reason === undefined) {
			return {provider: 'amd', others: []};
		}

		reasons.push(reason);
	}

	return {
		provider: undefined,
		reason: reasons.length === 0 ? 'None of nvidia-smi, amd-smi and rocm-smi is in PATH.' : reasons.join(' '),
	};
};

const missesNvidia = async ({
	run,
	timeoutMs = 10_000,
	gpusDirectory = driverGpusDirectory,
}: Options): Promise<string | undefined> => {
	const listed = await listDriverGpus(gpusDirectory);
	if (listed.length > 0) {
		return undefined;
	}

	const command = 'nvidia-smi';
	const outcome = await run(command, ['--query-gpu=index', '--format=csv,nounits'], {timeoutMs});
	const gpus = outcome.failure === undefined ? parseGpuTable(outcome.stdout, outcome.stderr)?.gpus : undefined;
	// A GPU that the tool cannot reach counts, too.
	const isThere = (gpus !== undefined && gpus.length > 0) || outcome.stdout.toLowerCase().includes(opening);
	return isThere ? undefined : explainFailure(outcome, command, timeoutMs).message;
};

const missesAmd = async ({run, timeoutMs = 10_000}: Options): Promise<string | undefined> => {
	const {failure} = await createAmdProvider({
		run,
		timeLimitMs: () => timeoutMs,
		describeProcesses: async () => new Map(),
		monotonicMs: () => performance.now(),
	}).observe();
	return failure?.message;
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
