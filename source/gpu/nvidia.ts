import type {GpuProvider} from '../core/ports.js';
import type {Observation} from '../core/types.js';
import {CanhazgpuError} from '../errors.js';
import {createHangWatch} from './hang-watch.js';
import {countDriverGpus, driverGpusDirectory} from './nvidia-driver.js';
import {explainFailure, explainHang} from './nvidia-failures.js';
import {gpuFields, processFields, readDriverMajor} from './nvidia-fields.js';
import {parseGpuTable} from './nvidia-gpus.js';
import {attachProcesses, parseProcessTable} from './nvidia-processes.js';
import {createQuery} from './nvidia-query.js';
import {singleFlight} from './single-flight.js';
import {tidyWarnings} from './tool-failures.js';
import {isComplete, type DescribeProcesses, type RunTool} from './tool.js';

type Options = {
	readonly run: RunTool;
	readonly describeProcesses: DescribeProcesses;
	readonly monotonicMs: () => number;
	/**
	For one scan. Eight GPUs without persistence mode may take many seconds.
	*/
	readonly timeoutMs?: number;
	readonly command?: string;
	/**
	Where the driver lists its GPUs.
	*/
	readonly gpusDirectory?: string;
};

/**
NVIDIA GPUs by way of nvidia-smi. GPUs and processes are asked for at the same time, by two runs of the tool.
*/
export const createNvidiaProvider = ({
	run,
	describeProcesses,
	monotonicMs,
	timeoutMs = 10_000,
	command = 'nvidia-smi',
	gpusDirectory = driverGpusDirectory,
}: Options): GpuProvider => {
	const closing = new AbortController();
	const common = {run, command, timeoutMs, monotonicMs, signal: closing.signal};
	const driverMajor = readDriverMajor();
	const askGpus = createQuery({
		...common,
		option: '--query-gpu',
		fields: (refused) => gpuFields(refused, driverMajor),
		essential: ['index'],
	});
	const askProcesses = createQuery({
		...common,
		option: '--query-compute-apps',
		fields: (refused) => processFields.filter((field) => !refused.has(field)),
		essential: ['gpu_uuid', 'pid'],
	});

	const hangs = createHangWatch();

	const report = (seen: Pick<Observation, 'gpus' | 'failure' | 'driverVersion' | 'warnings'>): Observation => ({
		provider: 'nvidia',
		simulated: false,
		takenAtMs: monotonicMs(),
		...seen,
		warnings: tidyWarnings(seen.warnings),
	});

	const scan = async (): Promise<Observation> => {
		const startedAtMs = monotonicMs();
		const hangingSinceMs = hangs.sinceMs();
		if (hangingSinceMs !== undefined) {
			return report({gpus: [], failure: explainHang(command, startedAtMs - hangingSinceMs), warnings: []});
		}

		const [gpuOutcome, processOutcome] = await Promise.all([askGpus(), askProcesses()]);
		hangs.note(gpuOutcome, startedAtMs);
		hangs.note(processOutcome, startedAtMs);

		const gpuTable = isComplete(gpuOutcome) ? parseGpuTable(gpuOutcome.stdout, gpuOutcome.stderr) : undefined;
		if (gpuTable === undefined || gpuTable.gpus.length === 0) {
			return report({gpus: [], failure: explainFailure(gpuOutcome, command, timeoutMs), warnings: []});
		}

		const processTable = isComplete(processOutcome) ? parseProcessTable(processOutcome.stdout) : undefined;
		const {gpus, strays} = await attachProcesses(gpuTable.gpus, processTable, describeProcesses);
		const warnings = [...gpuTable.remarks];
		if (gpuOutcome.exitCode !== 0 && warnings.length === 0 && gpus.every(({failure}) => failure === undefined)) {
			warnings.push(`${command} exited with ${gpuOutcome.exitCode}, after a complete table.`);
		}

		if (processTable === undefined) {
			const {message} = explainFailure(processOutcome, command, timeoutMs);
			warnings.push(`Processes could not be asked for: ${message}`);
		}

		if (strays > 0) {
			warnings.push('Processes run on a GPU that is not listed, so no GPU can be said to have none.');
		}

		return report({gpus, driverVersion: gpuTable.driverVersion, warnings});
	};

	const observe = singleFlight(scan);

	return {
		name: 'nvidia',
		simulated: false,
		observe,
		async count() {
			const listed = await countDriverGpus(run, gpusDirectory);
			if (listed > 0) {
				return listed;
			}

			const {gpus, failure} = await observe();
			if (failure !== undefined) {
				throw new CanhazgpuError('provider', failure.message, {hint: failure.hint});
			}

			return gpus.length;
		},
		async close() {
			closing.abort();
		},
	};
};
