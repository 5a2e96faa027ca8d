/** Builds the single binary, which tests can start in place of the built program. */
import {spawnSync} from 'node:child_process';
import process from 'node:process';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The exit code of the build script if it cannot build: no network, or an unsupported machine. */
const notToBeHad = 2;

const file = `${root}dist/canhazgpu-${process.platform}-${process.arch}`;

/**
Builds the binary, one test file at a time, unless it is newer than the built program.

@returns Its path. Undefined if it cannot be built, with a message.
*/
export function buildBinary(): string | undefined {
	const make = '[ "$1" -nt dist/cli.js ] || exec "$2" .config/make-binary.js';
	const {status, stderr} = spawnSync('flock', ['dist/binary.lock', 'sh', '-c', make, 'sh', file, process.execPath], {
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

	return file;
}

/** Builds the binary, and makes the helpers start it instead of the built program. */
export function makeBinary(): string | undefined {
	const made = buildBinary();
	if (made !== undefined) {
		process.env['CANHAZGPU_TEST_BINARY'] = made;
	}

	return made;
}
