/** The words of the tests of this folder, and how a reading is judged there. */
import {judgeUsage} from '../../../source/core/rules/usage/gpu-usage.js';
import type {BareReading} from '../../../source/gpu/reading.js';

export const threshold = 1024;

/** `use` is `idle` where the word only leaves a reading unknown. */
export const verdictOf = (gpu: BareReading | undefined) => ({
	failure: gpu?.failure,
	use: judgeUsage(gpu && {...gpu, processes: []}, threshold).kind,
});

export const lost = ['GPU requires reset', 'GPU is lost'];
const errors = ['Unknown Error', 'Timeout', 'GPU access blocked by the operating system', 'Something new'];
const absent = ['N/A', 'Not Supported', 'Insufficient Permissions', 'Not Found'];
const bracketed = (words: readonly string[]) => words.map((word) => `[${word}]`);

/** Breaks the GPU where it stands in a vital field. */
export const errorWords = [...bracketed(errors), 'ERR!'];
/** Leaves the reading unknown, and never breaks the GPU. */
export const harmlessWords = [...bracketed(absent), 'N/A', '', '-1', '[Requested functionality has been deprecated]'];
