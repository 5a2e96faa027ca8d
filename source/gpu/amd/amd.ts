import type {GpuProvider} from '../../core/model/ports.js';
import type {Observation} from '../../core/model/types.js';
import {countSeen} from '../reading.js';
import {createHangWatch} from '../tool/hang-watch.js';
import {createPciPlacement} from '../tool/pci-placement.js';
import {singleFlight} from '../tool/single-flight.js';
import {explainHanging, tidyWarnings} from '../tool/failures.js';
import type {DescribeProcesses, RunTool} from '../tool/tool.js';
import {amdDriver} from './failures.js';
import {inOrderOfPrograms} from './order.js';
import {attachProcesses} from './processes.js';
import {createQuestion} from './query.js';
import {createAmdSmi} from './amd-smi.js';
import {createRocmSmi} from './rocm-smi.js';
import {readAmdSmiLinks, readRocmSmiLinks} from './topology.js';

type Options = {
	readonly run: RunTool;
	readonly describeProcesses: DescribeProcesses;
	readonly monotonicMs: () => number;
	/** Returns the time limit for a scan. Called at the start of each scan. */
	readonly timeLimitMs?: () => number;
	readonly placed?: ReturnType<typeof createPciPlacement>;
	readonly command?: string;
	readonly oldCommand?: string;
};

/** Reads AMD GPUs with amd-smi, or with rocm-smi if that is the only tool. Several runs of the tool read everything in parallel. */
export const createAmdProvider = ({
	run,
	describeProcesses,
	monotonicMs,
	timeLimitMs = () => 10_000,
	placed = createPciPlacement(),
	command = 'amd-smi',
	oldCommand = 'rocm-smi',
}: Options): GpuProvider => {
	const closing = new AbortController();
	const hangs = createHangWatch();
	const optionsFor = (name: string) => {
		const common = {run, command: name, monotonicMs, signal: closing.signal, hangs};
		return {
			command: name,
			monotonicMs,
			question: (...wordings: ReadonlyArray<readonly string[]>) => createQuestion(common, wordings),
		};
	};

	const scanNew = createAmdSmi(optionsFor(command));
	const scanOld = createRocmSmi(optionsFor(oldCommand));
	const askLinks = optionsFor(command).question(['topology', '--json']);
	const askOldLinks = optionsFor(oldCommand).question(['--showtopo', '--json']);
	let latestNumbers: ReadonlyMap<number, number> = new Map();

	const report = (seen: Pick<Observation, 'gpus' | 'failure' | 'driverVersion' | 'warnings'>): Observation => ({
		provider: 'amd',
		simulated: false,
		takenAtMs: monotonicMs(),
		...seen,
		warnings: tidyWarnings(seen.warnings),
	});

	const scan = async (): Promise<Observation> => {
		const hangingSinceMs = hangs.sinceMs();
		if (hangingSinceMs !== undefined) {
			const failure = explainHanging(command, monotonicMs() - hangingSinceMs, amdDriver);
			return report({gpus: [], failure, warnings: []});
		}

		const timeoutMs = timeLimitMs();
		let seen = await scanNew(timeoutMs);
		if ('failure' in seen && seen.isMissing) {
			const old = await scanOld(timeoutMs);
			seen = 'failure' in old && old.isMissing ? seen : old;
		}

		if ('failure' in seen) {
			return report({gpus: [], failure: seen.failure, warnings: []});
		}

		const {processes, numbers, driverVersion, warnings} = seen;
		const gpus = await attachProcesses(seen.gpus, processes, describeProcesses);
		latestNumbers = numbers;
		return report({gpus: placed(inOrderOfPrograms(gpus, numbers)), driverVersion, warnings});
	};

	const observe = singleFlight(scan);

	return {
		name: 'amd',
		simulated: false,
		observe,
		async count() {
			return countSeen(await observe());
		},
		async readLinks() {
			if (hangs.sinceMs() !== undefined) {
				return undefined;
			}

			const deadlineMs = monotonicMs() + timeLimitMs();
			const links = readAmdSmiLinks((await askLinks(deadlineMs)).json?.documents, latestNumbers);
			return links ?? readRocmSmiLinks((await askOldLinks(deadlineMs)).json?.documents[0], latestNumbers);
		},
		async close() {
			closing.abort();
		},
	};
};
