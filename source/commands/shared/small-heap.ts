import process from 'node:process';
import {setFlagsFromString} from 'node:v8';

/** Keeps the heap of long-running commands small: 140 instead of 170 MiB after ten hours (`npm run bench -- monitor-events`). Not possible in Bun. */
export function keepHeapSmall(): void {
	if (process.versions['bun'] !== undefined) {
		return;
	}

	setFlagsFromString('--semi-space-growth-factor=1');
	setFlagsFromString('--heap-growing-percent=10');
}
