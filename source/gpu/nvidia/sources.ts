import type {GpuReading} from '../../core/model/types.js';
import type {HangWatch} from '../tool/hang-watch.js';
import type {BareReading} from '../reading.js';
import type {ToolStream} from '../tool/stream.js';
import type {GpuTable} from './gpus.js';
import type {ProcessTable} from './processes.js';

/** A whole scan at once, by way of the driver's library. */
export type WholeScan = {
	readonly gpus: readonly BareReading[];
	readonly processes: ProcessTable;
	readonly driverVersion?: string;
};

/** Quicker ways to see the GPUs for a caller that scans again and again, the best first. Where they fail, the tool is run. */
type Sources = {
	readonly whole?: ToolStream<WholeScan>;
	/** Without the processes. */
	readonly table?: ToolStream<GpuTable>;
	/** Adds what is asked for but rarely. Waits for nothing. */
	readonly enrich: (gpus: readonly GpuReading[]) => readonly GpuReading[];
	readonly close: () => Promise<void>;
};

export type CreateSources = (provider: {
	readonly command: string;
	readonly hangs: HangWatch;
	/** Of the query for the table, without the fields that the tool refused. */
	readonly tableArguments: () => readonly string[];
	/** As the last run of the tool told it. */
	readonly gpuCount: () => number | undefined;
}) => Sources;
