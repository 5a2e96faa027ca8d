/** The program in one file with its runtime, on which tests can be run. */
import {spawnSync} from 'node:child_process';
import process from 'node:process';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The exit code of a maker that has nothing to make it of: no network, or another machine. */
const notToBeHad = 2;

/**
Makes it, and tells the helpers to start it wherever they would start the program.

@returns Its file; undefined where it cannot be made, which is said.
*/
export function makeBinary(): string | undefined {
	const {status, stdout, stderr} = spawnSync(process.execPath, ['.config/make-binary.js'], {
		cwd: root,
		encoding: 'utf8',
	});
	if (status === notToBeHad) {
		console.warn(`The tests of the binary are skipped: ${stderr}`);
		return undefined;
	}

	if (status !== 0) {
		throw new Error(stderr);
	}

	// The line before is of the archive.
	const file = `${root}${stdout.trim().split('\n').at(-1)!.split(':', 1)[0]!}`;
	process.env['CANHAZGPU_TEST_BINARY'] = file;
	return file;
}
