import process from 'node:process';
import {setFlagsFromString} from 'node:v8';

/**
Keeps the heap of long-running commands small. Nearly all their objects are short-lived, but V8 would grow the young generation for speed: after the
events of ten hours, the monitor uses 140 MiB instead of 170 (`npm run bench -- monitor-events`). Only V8 has this flag.
*/
export function keepHeapSmall(): void {
	if (process.versions['bun'] !== undefined) {
		return;
	}

	setFlagsFromString('--semi-space-growth-factor=1');
	setFlagsFromString('--heap-growing-percent=10');
}
