/**
The process that may call NVIDIA's library. A call into a driver that hangs cannot be ended, and neither can a process that is within one;
a library that is not what it should be may take its process with it. So this is a process of its own, which can be left behind.
*/
import process from 'node:process';
import {encodeScan} from '../../gpu/nvidia/nvml/lines.js';
import {openScanner} from '../../gpu/nvidia/nvml/scan.js';

/** The library's name to the system's loader. */
const libraryName = 'libnvidia-ml.so.1';

/** Neither loads what belongs to the other. */
const loadOpener = async () =>
	process.versions['bun'] === undefined
		? import('../../gpu/nvidia/nvml/library.js')
		: import('../../gpu/nvidia/nvml/library-bun.js');

/**
Prints a scan as a line of JSON every so often, until its reader is gone.

@returns The exit code, once the library fails.
*/
export async function printScans(periodMs: number): Promise<number> {
	process.stdout.on('error', () => {
		// eslint-disable-next-line unicorn/no-process-exit -- the process that started this one is gone
		process.exit(0);
	});
	try {
		const {openLibrary} = await loadOpener();
		// No directory but those of the system may hold the library.
		process.chdir('/');
		const scanner = openScanner(openLibrary(libraryName));
		for (;;) {
			process.stdout.write(`${encodeScan(scanner.scan())}\n`);
			await new Promise((resolve) => {
				setTimeout(resolve, periodMs);
			});
		}
	} catch (error) {
		process.stderr.write(`${String(error)}\n`);
		return 1;
	}
}
