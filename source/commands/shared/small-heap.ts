import process from 'node:process';
import {setFlagsFromString} from 'node:v8';

/** Keeps the heap of long-running commands small: 140 MiB instead of 170 after ten hours of events (`npm run bench -- monitor-events`). Bun has no such setting. */
export function keepHeapSmall(): void {
	if (process.versions['bun'] !== undefined) {
		return;
	}

	setFlagsFromString('--semi-space-growth-factor=1');
	setFlagsFromString('--heap-growing-percent=10');
}
