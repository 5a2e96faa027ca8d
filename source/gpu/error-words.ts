/** The words that tools print instead of a reading, and their meanings. Only this table decides which words mean that a GPU is broken. */
import type {GpuReading} from '../core/model/observation.js';
import {cap} from './tool/text.js';

/** A reading of a GPU. `performanceState` is read only for its error words. */
export type Reading = keyof GpuReading | 'performanceState';

export type ReadingWord = {
	/** Undefined for a field without a reading, such as the recovery action. */
	readonly reading: Reading | undefined;
	/** The field's usual name, such as `utilization.gpu`. */
	readonly field: string;
	readonly word: string;
};

/** Readings in which an error means that the GPU is broken. Fan and power are not included, because these sensors can fail on healthy GPUs. */
const vitalReadings: ReadonlySet<Reading | undefined> = new Set<Reading>([
	'uuid',
	'memoryUsedMiB',
	'memoryTotalMiB',
	'memoryReservedMiB',
	'utilizationPercent',
	'memoryUtilizationPercent',
	'temperatureCelsius',
	'performanceState',
	'smClockMHz',
	'memoryClockMHz',
]);

/** Matches words that mean, in any field, that the GPU is gone or waits for a reset. */
const lostForm = /^\[.*(?:is lost|requires reset|reset required).*\]$|^gpu (?:is lost|requires reset)$/iv;

/**
Matches words for a reading that the GPU does not have, that this account may not see, or that the driver dropped. NVIDIA's driver answers `[Requested
functionality has been deprecated]` for a dropped field, also on healthy GPUs. AMD's tools print names of status codes.
*/
const absentForm =
	/^\[?(?:n\/a|not supported|insufficient permissions|not found|requested functionality has been deprecated)?\]?$|_status_(?:not_supported|not_yet_implemented|no_perm|not_found|no_data)\b/iv;

/** Matches any other word in brackets, and the words without brackets that tools print for a failed reading. */
const errorForm = /^\[.*\]$|^err!$|\berror\b|_status_/iv;

export const isLostWord = (word: string): boolean => lostForm.test(word);

/** Whether the word means that the reading failed. Corrupted text, such as a number with a comma, is no error word. */
const isErrorWord = (word: string): boolean => errorForm.test(word) && !absentForm.test(word);

/** Returns why a GPU does not work: the field and its word. Undefined if the words only mean that readings are unknown. */
export const failureOfWords = (words: readonly ReadingWord[]): string | undefined => {
	const worst =
		words.find(({word}) => isLostWord(word)) ??
		words.find(({reading, word}) => vitalReadings.has(reading) && isErrorWord(word));
	return worst && `${cap(withoutBrackets(worst.word), 150)} (${worst.field})`;
};

export const withoutBrackets = (word: string): string => word.replace(/^\[(?<words>.*)\]$/v, '$<words>');
