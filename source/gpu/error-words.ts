/**
The words that tools print in place of a reading, and what each says about the GPU. This table is the only place that decides when such a
word makes a GPU broken.
*/
import type {GpuReading} from '../core/model/observation.js';
import {cap} from './tool/text.js';

/** A reading of a GPU. `performanceState` is asked only for its error words. */
export type Reading = keyof GpuReading | 'performanceState';

/** A word that stands where a reading was expected. */
export type ReadingWord = {
	/** Undefined for a field that becomes no reading, such as the recovery action. */
	readonly reading: Reading | undefined;
	/** The name of the field, as people know it: `utilization.gpu`. */
	readonly field: string;
	readonly word: string;
};

/**
Readings that every working GPU can take, or says that it has not. An error in one of them means that the GPU does not work. Sensors of
fan and power fail on healthy cards.
*/
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

/** The GPU is gone or waits for a reset, whichever field says so. */
const lostForm = /^\[.*(?:is lost|requires reset|reset required).*\]$|^gpu (?:is lost|requires reset)$/iv;

/**
The GPU has no such reading, this account may not see it, or this driver no longer tells it. A driver answers a field that it has given up with
`[Requested functionality has been deprecated]`, on healthy GPUs, too. AMD's tools print the names of status codes.
*/
const absentForm =
	/^\[?(?:n\/a|not supported|insufficient permissions|not found|requested functionality has been deprecated)?\]?$|_status_(?:not_supported|not_yet_implemented|no_perm|not_found|no_data)\b/iv;

/** Any other word in brackets, and the ways in which tools without brackets say that a reading failed. */
const errorForm = /^\[.*\]$|^err!$|\berror\b|_status_/iv;

/** Whether the word says that the GPU is gone or waits for a reset. */
export const isLostWord = (word: string): boolean => lostForm.test(word);

/** Whether the word says that the reading failed. Damaged text, such as a number with a comma in it, says nothing. */
const isErrorWord = (word: string): boolean => errorForm.test(word) && !absentForm.test(word);

/**
Judges the words of one GPU.

@returns The failure of the GPU, which names the field and the word. Undefined while they only leave readings unknown.
*/
export const failureOfWords = (words: readonly ReadingWord[]): string | undefined => {
	const worst =
		words.find(({word}) => isLostWord(word)) ??
		words.find(({reading, word}) => vitalReadings.has(reading) && isErrorWord(word));
	return worst && `${cap(withoutBrackets(worst.word), 150)} (${worst.field})`;
};

/** `[Unknown Error]` -> `Unknown Error`. */
export const withoutBrackets = (word: string): string => word.replace(/^\[(?<words>.*)\]$/v, '$<words>');
