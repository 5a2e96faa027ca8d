/** Calls NVIDIA's library in a child process, because a call can hang or crash its process, and a child process can be abandoned. */
import process from 'node:process';
import {encodeScan} from '../../gpu/nvidia/nvml/lines.js';
import {openScanner} from '../../gpu/nvidia/nvml/scan.js';

const libraryName = 'libnvidia-ml.so.1';

const loadOpener = async () =>
	process.versions['bun'] === undefined
		? import('../../gpu/nvidia/nvml/library.js')
		: import('../../gpu/nvidia/nvml/library-bun.js');

/** Prints a scan as a line of JSON every `periodMs`. Returns the exit code when the library fails. */
export async function printScans(periodMs: number): Promise<number> {
	process.stdout.on('error', () => {
		// eslint-disable-next-line unicorn/no-process-exit -- the process that started this one is gone
		process.exit(0);
	});
	try {
		const {openLibrary} = await loadOpener();
		// The library may be loaded only from system directories, never from the current one.
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
