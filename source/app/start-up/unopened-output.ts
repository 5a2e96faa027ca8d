/** Keeps stdout and stderr unopened for `run`. Opening takes milliseconds, and makes a pipe non-blocking for every process that shares the pipe. */
import {Buffer} from 'node:buffer';
import {writeSync} from 'node:fs';
import type {Paint} from '../../format/text/paint.js';

/** Whether the command leaves stdout to its job. If the command prints anyway, stdout is opened first. */
export const leavesOutput = ([command]: readonly string[]): boolean => command === 'run';

const same = (text: string): string => text;

/** Returns text without colors. Used where loading the color library would slow down the start. */
export const unpainted: Paint = {
	available: same,
	inUse: same,
	unreserved: same,
	error: same,
	header: same,
	dim: same,
	bold: same,
};

/** Milliseconds between two writes to a pipe that another process has made non-blocking. */
const pauseMs = 5;

/** Writes to stderr without opening the stream. Drops the text if there is no reader. */
export function writeError(text: string | Uint8Array): void {
	let left = Buffer.from(text);
	while (left.length > 0) {
		try {
			left = left.subarray(writeSync(2, left));
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') {
				return;
			}

			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
		}
	}
}
