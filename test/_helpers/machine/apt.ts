/** Packages of the system for the tests, in bounded time: CI has ten minutes for everything. */
import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import process from 'node:process';

/** The longest that one run of a tool may take. */
const longestMs = 120_000;

const patience = [
	// Whoever installs something at the same time will have done so soon.
	'-o',
	'DPkg::Lock::Timeout=60',
	// A mirror that does not answer is none.
	...['http', 'https'].flatMap((scheme) => ['-o', `Acquire::${scheme}::Timeout=15`]),
	'-o',
	'Acquire::Retries=1',
];

/** Runs a tool of packages: what it prints, or an error with its own last words. */
export function runTool(command: string, parameters: readonly string[], directory?: string): string {
	try {
		return execFileSync(command, [...(command === 'apt-get' ? patience : []), ...parameters], {
			cwd: directory,
			encoding: 'utf8',
			stdio: ['ignore', 'pipe', 'pipe'],
			maxBuffer: 64 * 1024 * 1024,
			timeout: longestMs,
			// No question, no translation, and no service started by the package.
			env: {...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C', RUNLEVEL: '1'},
		});
	} catch (error) {
		const {code, stderr = ''} = error as NodeJS.ErrnoException & {readonly stderr?: string};
		const words = stderr.trim().split('\n').at(-1)!;
		const why = code === 'ENOENT' ? 'not found' : code === 'ETIMEDOUT' ? `no end after ${longestMs / 1000} s` : words;
		const what = parameters.find((word) => /^[a-z]+$/v.test(word)) ?? '';
		throw new Error(`${command} ${what}: ${why}`, {cause: error});
	}
}

/** Why packages may not be installed here; undefined when they may. */
export const whyNotInstall = (): string | undefined =>
	process.getuid?.() === 0
		? existsSync('/run/systemd/system')
			? 'where systemd runs, a package would start its service'
			: undefined
		: 'only root may install packages';

/** Installs a package, with new lists where those that are there do not do. */
export function installPackage(name: string): void {
	const why = whyNotInstall();
	if (why !== undefined) {
		throw new Error(why);
	}

	const install = ['install', '-y', '--no-install-recommends', name];
	try {
		runTool('apt-get', install);
	} catch {
		runTool('apt-get', ['update']);
		runTool('apt-get', install);
	}
}
