/** Error words for the tests in this folder, and how each reading must be judged. */
import {judgeUsage} from '../../../source/core/rules/usage/gpu-usage.js';
import type {BareReading} from '../../../source/gpu/reading.js';

export const threshold = 1024;

/** `use` is `idle` if the word only makes a reading unknown. */
export const verdictOf = (gpu: BareReading | undefined) => ({
	failure: gpu?.failure,
	use: judgeUsage(gpu && {...gpu, processes: []}, threshold).kind,
});

export const lost = ['GPU requires reset', 'GPU is lost'];
const errors = ['Unknown Error', 'Timeout', 'GPU access blocked by the operating system', 'Something new'];
const absent = ['N/A', 'Not Supported', 'Insufficient Permissions', 'Not Found'];
const bracketed = (words: readonly string[]) => words.map((word) => `[${word}]`);

/** Breaks the GPU in a vital field. */
export const errorWords = [...bracketed(errors), 'ERR!'];
/** Makes the reading unknown and never breaks the GPU. */
export const harmlessWords = [...bracketed(absent), 'N/A', '', '-1', '[Requested functionality has been deprecated]'];
