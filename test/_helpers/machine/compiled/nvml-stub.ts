/** Compiles a fake NVML library. */
import {execFileSync} from 'node:child_process';
import {mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const ownSource = fileURLToPath(new URL('nvml-stub.c', import.meta.url));

const canCompile = (): boolean => {
	try {
		execFileSync('cc', ['--version'], {stdio: 'ignore'});
		return true;
	} catch {
		return false;
	}
};

/** Whether there is a C compiler. Without one, the tests of the library are skipped with a message. */
export const hasCompiler = canCompile();
if (!hasCompiler) {
	console.warn('No C compiler (cc): the tests of NVML over a stand-in for its library are skipped.');
}

/** Compiles the library. Returns the directory of a `libnvidia-ml.so.1`. */
export function compileNvml(...flags: readonly string[]): string {
	return compileLibrary(ownSource, flags);
}

/** Compiles another C file as such a library. */
export function compileLibrary(source: string, flags: readonly string[] = []): string {
	const directory = mkdtempSync(path.join(tmpdir(), 'nvml-'));
	execFileSync('cc', ['-shared', '-fPIC', '-w', ...flags, '-o', path.join(directory, 'libnvidia-ml.so.1'), source]);
	return directory;
}
