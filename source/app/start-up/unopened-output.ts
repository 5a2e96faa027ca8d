/**
Leaves stdout and stderr unopened where only a command writes to them: to open the first takes some milliseconds of a start, and makes a pipe not
wait, for all who share it.
*/
import {Buffer} from 'node:buffer';
import {writeSync} from 'node:fs';
import type {Paint} from '../../format/text/paint.js';

/** Whether the verb leaves stdout to the command that it runs. Only a hint: who prints all the same opens it first. */
export const leavesOutput = ([verb]: readonly string[]): boolean => verb === 'run';

const same = (text: string): string => text;

/** For who prints nothing: to load colours takes a part of each start, too. */
export const unpainted: Paint = {
	available: same,
	inUse: same,
	unreserved: same,
	error: same,
	header: same,
	dim: same,
	bold: same,
};

/** Between two tries to write to a pipe that another process has made not wait, in ms. */
const pauseMs = 5;

/** Writes to stderr without opening it. What has no reader is lost. */
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
