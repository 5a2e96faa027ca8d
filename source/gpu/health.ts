import type {GpuReading, HealthProblem} from '../core/model/observation.js';
import {cap} from './tool/text.js';

/** Signs that a GPU is unfit for work. An unknown value is no sign. */
export type Symptoms = {
	/** The tool's message, if the GPU could not be queried. */
	readonly failure?: string;
	/** Action that the driver recommends, such as `None` or `Drain and Reset`. */
	readonly recoveryAction?: string;
	readonly eccUncorrectedErrors?: number;
	/**
	Whether a faulty memory row has no spare left, so that the GPU must be replaced. Rows that only wait for replacement do not affect new work (NVIDIA
	GPU Memory Error Management, "Error Recovery and Response Flags").
	*/
	readonly hasFailedRemapping?: boolean;
	/** Whether faulty memory pages stay in use until a reset retires them. Only on GPUs before Ampere. */
	readonly hasPendingPages?: boolean;
	readonly temperatureCelsius?: number;
	readonly temperatureLimitCelsius?: number;
	readonly isBrakingForHeat?: boolean;
};

export const healthOf = (symptoms: Symptoms): Pick<GpuReading, 'health'> => {
	const health = judgeHealth(symptoms);
	return health.length > 0 ? {health} : {};
};

/** Returns the reasons not to grant a GPU, the most serious first. */
export const judgeHealth = (symptoms: Symptoms): readonly HealthProblem[] =>
	[lostProblem(symptoms.failure), resetProblem(symptoms), eccProblem(symptoms), heatProblem(symptoms)].filter(
		(problem) => problem !== undefined,
	);

const lostProblem = (failure = ''): HealthProblem | undefined =>
	/is lost|fallen off the bus/iv.test(failure)
		? {kind: 'fell-off-the-bus', words: `Fell off the bus: ${cap(failure, 200)}`}
		: undefined;

const resetProblem = ({failure = '', recoveryAction = '', hasPendingPages}: Symptoms): HealthProblem | undefined => {
	if (/requires reset|reset required/iv.test(failure)) {
		return {kind: 'needs-reset', words: cap(failure, 200)};
	}

	if (/reset|reboot|drain/iv.test(recoveryAction)) {
		return {kind: 'needs-reset', words: `The driver recommends: ${cap(recoveryAction, 100)}`};
	}

	return hasPendingPages === true
		? {kind: 'needs-reset', words: 'Faulty memory pages are in use until the GPU is reset (retired pages pending)'}
		: undefined;
};

/** Returns the recovery action for drivers before 565, which report these two values instead of an action. */
export const olderRecoveryAction = (isResetRequired?: boolean, isDrainRecommended?: boolean): string | undefined => {
	if (isResetRequired === true) {
		return 'Reset';
	}

	return isDrainRecommended === true ? 'Drain and Reset' : undefined;
};

const eccProblem = ({eccUncorrectedErrors: errors = 0, hasFailedRemapping}: Symptoms): HealthProblem | undefined => {
	if (hasFailedRemapping === true) {
		return {kind: 'ecc', words: 'Faulty memory could not be replaced (row remapping failed): the GPU must be replaced'};
	}

	return errors > 0
		? {kind: 'ecc', words: `${errors} memory error${errors === 1 ? '' : 's'} that could not be corrected (ECC)`}
		: undefined;
};

const heatProblem = ({
	temperatureCelsius,
	temperatureLimitCelsius,
	isBrakingForHeat,
}: Symptoms): HealthProblem | undefined => {
	if (
		temperatureCelsius !== undefined &&
		temperatureLimitCelsius !== undefined &&
		temperatureCelsius >= temperatureLimitCelsius
	) {
		return {
			kind: 'temperature',
			words: `${temperatureCelsius} °C (the GPU slows down at ${temperatureLimitCelsius} °C)`,
		};
	}

	return isBrakingForHeat === true
		? {
				kind: 'temperature',
				words: `Slowed down by heat${temperatureCelsius === undefined ? '' : ` at ${temperatureCelsius} °C`}`,
			}
		: undefined;
};

/** Adds problems from the kernel's log after those that the GPU reports now. Omits a kind of problem that the GPU reports itself, except Xids. */
export const addProblems = (gpu: GpuReading, problems: readonly HealthProblem[] = []): GpuReading => {
	const known = gpu.health ?? [];
	const more = problems.filter(({kind}) => kind === 'xid' || known.every((problem) => problem.kind !== kind));
	return more.length === 0 ? gpu : {...gpu, health: [...known, ...more]};
};
