/** `GET /api/use`: the history of utilization, whose unknown values are null in JSON. */
import type {GpuUtilization, UtilizationHistory} from '../live/utilization-history.js';

/** A whole percent; null where nothing is known. */
// eslint-disable-next-line @typescript-eslint/no-restricted-types -- JSON has no undefined
export type PercentJson = number | null;

/** One GPU: a value for each step, oldest first. */
export type GpuUtilizationJson = Readonly<Record<keyof GpuUtilization, readonly PercentJson[]>>;

export type UtilizationJson = Omit<ReturnType<UtilizationHistory['last']>, 'gpus'> & {
	/** By index. */
	readonly gpus: Readonly<Record<string, GpuUtilizationJson>>;
};
