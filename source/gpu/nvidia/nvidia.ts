import type {GpuProvider} from '../../core/model/ports.js';
import type {GpuReading, Observation} from '../../core/model/types.js';
import {countSeen} from '../reading.js';
import {createPciPlacement} from '../tool/pci-placement.js';
import {createHangWatch, watchRuns} from '../tool/hang-watch.js';
import {singleFlight} from '../tool/single-flight.js';
import {explainHanging, tidyWarnings} from '../tool/failures.js';
import {isComplete, type DescribeProcesses, type RunTool} from '../tool/tool.js';
import {driverGpusDirectory, readDriverGpus} from './problems/driver.js';
import {createHiddenGpus} from './problems/hidden-gpus.js';
import {explainFailure, nvidiaDriver} from './problems/failures.js';
import type {SlowReadings} from './slow-readings.js';
import {gpuFields, processFields, readDriverMajor} from './fields.js';
import {parseGpuTable, type GpuTable} from './gpus.js';
import {attachProcesses, parseProcessTable} from './processes.js';
import {createQuery} from './query.js';
import type {CreateSources} from './live.js';
import {parseTopology} from './topology.js';
import {createRemainingGpus, type AskRemainingGpus} from './problems/remaining-gpus.js';

type Options = {
	readonly run: RunTool;
	readonly describeProcesses: DescribeProcesses;
	readonly monotonicMs: () => number;
	/** Returns the time limit for a scan. Called at the start of each scan. Eight GPUs without persistence mode can take many seconds. */
	readonly timeLimitMs?: () => number;
	readonly command?: string;
	readonly gpusDirectory?: string;
	readonly devicesDirectory?: string;
	/** Adds the GPUs' places in the machine. */
	readonly placed?: (gpus: readonly GpuReading[]) => readonly GpuReading[];
	readonly createSources?: CreateSources;
	readonly slowReadings?: SlowReadings;
};

type Seen = Pick<Observation, 'gpus' | 'lacksKernelLog' | 'failure' | 'driverVersion' | 'warnings'> &
	Partial<Pick<Observation, 'takenAtMs'>>;

type SeenTable =
	| {readonly table: GpuTable; readonly exitCode?: number; readonly takenAtMs?: number}
	| {readonly failure: Observation['failure']};

/** Reads NVIDIA GPUs with nvidia-smi. Two parallel runs of the tool read GPUs and processes. */
export const createNvidiaProvider = ({
	run,
	describeProcesses,
	monotonicMs,
	timeLimitMs = () => 10_000,
	command = 'nvidia-smi',
	gpusDirectory = driverGpusDirectory,
	devicesDirectory = '/dev',
	placed = createPciPlacement(),
	createSources,
	slowReadings,
}: Options): GpuProvider => {
	const closing = new AbortController();
	const hangs = createHangWatch();
	const common = {
		run: watchRuns(run, hangs, monotonicMs),
		command,
		monotonicMs,
		signal: closing.signal,
	};
	const driverMajor = readDriverMajor();
	const gpuQuery = createQuery({
		...common,
		option: '--query-gpu',
		fields: (refused) => gpuFields(refused, driverMajor),
		essential: ['index'],
	});
	const processQuery = createQuery({
		...common,
		option: '--query-compute-apps',
		fields: (refused) => processFields.filter((field) => !refused.has(field)),
		essential: ['gpu_uuid', 'pid'],
	});
	let gpuCount: number | undefined;
	const sources = createSources?.({command, hangs, tableArguments: gpuQuery.args, gpuCount: () => gpuCount});

	const withHidden = createHiddenGpus({run, gpusDirectory, devicesDirectory});
	let isPartial = false;

	const report = async (seen: Seen): Promise<Observation> => {
		const takenAtMs = monotonicMs();
		const enriched = sources?.enrich(seen.gpus);
		const {gpus, ...found} = await withHidden(enriched?.gpus ?? seen.gpus);
		isPartial = found.isPartial === true;
		return {
			provider: 'nvidia',
			simulated: false,
			takenAtMs,
			...seen,
			...enriched,
			...found,
			gpus: placed(gpus),
			warnings: tidyWarnings(seen.warnings),
		};
	};

	const refuse = async (failure: Observation['failure']): Promise<Observation> =>
		report({gpus: [], failure, warnings: []});

	const hangFailure = (): Observation['failure'] => {
		const sinceMs = hangs.sinceMs();
		return sinceMs === undefined ? undefined : explainHanging(command, monotonicMs() - sinceMs, nvidiaDriver);
	};

	const seeGpus = async (askRemaining: AskRemainingGpus, timeoutMs: number): Promise<SeenTable> => {
		const streamed = await sources?.table?.latest();
		if (streamed !== undefined) {
			return {table: streamed.block, takenAtMs: streamed.takenAtMs};
		}

		const hanging = hangFailure();
		if (hanging !== undefined) {
			return {failure: hanging};
		}

		const outcome = await askRemaining(
			await gpuQuery.ask(timeoutMs),
			gpuQuery.args(),
			(stdout) => parseGpuTable(stdout, '') !== undefined,
		);
		const table = isComplete(outcome) ? parseGpuTable(outcome.stdout, outcome.stderr) : undefined;
		gpuCount = table?.gpus.length;
		return table === undefined || table.gpus.length === 0
			? {failure: explainFailure(outcome, command, timeoutMs)}
			: {table, exitCode: outcome.exitCode};
	};

	const seeProcesses = async (askRemaining: AskRemainingGpus, timeoutMs: number) =>
		askRemaining(
			await processQuery.ask(timeoutMs),
			processQuery.args(),
			(stdout) => parseProcessTable(stdout) !== undefined,
		);

	const scan = async (): Promise<Observation> => {
		const whole = hangs.sinceMs() === undefined ? await sources?.whole?.latest() : undefined;
		if (whole !== undefined) {
			const {gpus, processes, driverVersion} = whole.block;
			const attached = await attachProcesses(gpus, processes, describeProcesses);
			return report({gpus: attached.gpus, driverVersion, warnings: [], takenAtMs: whole.takenAtMs});
		}

		const hanging = hangFailure();
		if (hanging !== undefined) {
			return refuse(hanging);
		}

		const isHanging = () => hangs.sinceMs() !== undefined;
		const addExtras = slowReadings?.begin({command, signal: closing.signal, isHanging});
		const timeoutMs = timeLimitMs();
		const askRemaining = createRemainingGpus({...common, deadlineMs: monotonicMs() + timeoutMs});
		const [seen, processOutcome] = await Promise.all([
			seeGpus(askRemaining, timeoutMs),
			seeProcesses(askRemaining, timeoutMs),
		]);
		if ('failure' in seen) {
			return refuse(seen.failure);
		}

		const {table, exitCode = 0, takenAtMs} = seen;
		const processTable = isComplete(processOutcome) ? parseProcessTable(processOutcome.stdout) : undefined;
		const {gpus, strays} = await attachProcesses(table.gpus, processTable, describeProcesses);
		const warnings = [...table.remarks];
		if (exitCode !== 0 && warnings.length === 0 && gpus.every(({failure}) => failure === undefined)) {
			warnings.push(`${command} printed a complete table, but exited with ${exitCode}.`);
		}

		if (processTable === undefined) {
			const {message} = explainFailure(processOutcome, command, timeoutMs);
			warnings.push(`The processes could not be read: ${message}`);
		}

		if (strays > 0) {
			warnings.push(
				'Some processes run on a GPU that is not listed, so each GPU may have more processes than are shown.',
			);
		}

		return report({
			...((await addExtras?.(gpus)) ?? {gpus}),
			driverVersion: table.driverVersion,
			warnings,
			...(takenAtMs !== undefined && {takenAtMs}),
		});
	};

	const observe = singleFlight(scan);

	return {
		name: 'nvidia',
		simulated: false,
		observe,
		async count() {
			const listed = await readDriverGpus(run, gpusDirectory);
			const count = listed.filter(({isExcluded}) => !isExcluded).length;
			return count > 0 ? count : countSeen(await observe());
		},
		async readLinks() {
			// If GPUs are hidden from this process, the tool numbers the others differently, so its table cannot be used.
			if (hangs.sinceMs() !== undefined || isPartial) {
				return undefined;
			}

			const outcome = await common.run(command, ['topo', '-m'], {timeoutMs: timeLimitMs(), signal: closing.signal});
			return isComplete(outcome) ? parseTopology(outcome.stdout) : undefined;
		},
		async close() {
			closing.abort();
			await sources?.close();
		},
	};
};
