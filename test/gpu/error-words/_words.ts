/** Errors that tools print in place of a value, and how each must be judged. */
import {judgeUsage} from '../../../source/core/rules/usage/gpu-usage.js';
import type {BareReading} from '../../../source/gpu/reading.js';

export const threshold = 1024;

/** Returns the failure of a GPU and how its use is judged. The use is `idle` if an error only makes a reading unknown. */
export const verdictOf = (gpu: BareReading | undefined) => ({
	failure: gpu?.failure,
	use: judgeUsage(gpu && {...gpu, processes: []}, threshold).kind,
});

export const lost = ['GPU requires reset', 'GPU is lost'];
const errors = ['Unknown Error', 'Timeout', 'GPU access blocked by the operating system', 'Something new'];
const absent = ['N/A', 'Not Supported', 'Insufficient Permissions', 'Not Found'];
const bracketed = (words: readonly string[]) => words.map((word) => `[${word}]`);

/** Errors that mean a broken GPU if they appear in a vital field. */
export const errorWords = [...bracketed(errors), 'ERR!'];
/** Words that make a reading unknown but never mean a broken GPU. */
export const harmlessWords = [...bracketed(absent), 'N/A', '', '-1', '[Requested functionality has been deprecated]'];
