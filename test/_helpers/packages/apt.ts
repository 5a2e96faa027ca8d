/** Installs system packages for the tests. Each step has a time limit, because CI allows ten minutes for everything. */
import {execFileSync} from 'node:child_process';
import {existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';

/** The time limit of one apt command. */
const longestMs = 120_000;

const patience = [
	// Waits for an installation that another process is running.
	'-o',
	'DPkg::Lock::Timeout=60',
	// Skips a mirror that does not answer.
	...['http', 'https'].flatMap((scheme) => ['-o', `Acquire::${scheme}::Timeout=15`]),
	'-o',
	'Acquire::Retries=1',
];

/** Runs a package tool and returns its output. The error contains the end of the output. */
export function runTool(command: string, parameters: readonly string[], directory?: string): string {
	try {
		return execFileSync(command, [...(command === 'apt-get' ? patience : []), ...parameters], {
			cwd: directory,
			encoding: 'utf8',
			stdio: ['ignore', 'pipe', 'pipe'],
			maxBuffer: 64 * 1024 * 1024,
			timeout: longestMs,
			// The tool asks no questions and prints English, and the package starts no service.
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

/** Returns why packages cannot be installed here, or undefined if they can. */
export const whyNotInstall = (): string | undefined =>
	process.getuid?.() === 0
		? existsSync('/run/systemd/system')
			? 'where systemd runs, a package would start its service'
			: undefined
		: 'only root may install packages';

/** Installs a package. Updates the package lists if the current ones are not sufficient. */
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

/** Packages that every machine has. */
const ownLibraries = /^(?:libc6|libc-bin|libgcc|libcrypt)/v;

/**
Unpacks a package and its dependencies into a directory, without root rights and without changing the system.

@param name
@param directory - Replaced if it exists.
@param wanted - The dependencies that the machine may lack.
*/
export function unpackPackage(name: string, directory: string, wanted: RegExp): void {
	// The paths in apt options cannot contain blanks, which the path of the repository can.
	const apt = mkdtempSync(path.join(tmpdir(), 'canhazgpu-apt-'));
	const root = `${directory}.${process.pid}`;
	// The system's package lists may be missing, and only root can update them. So this uses its own lists.
	const own = ['-o', `Dir::State::lists=${apt}/lists`, '-o', `Dir::Cache=${apt}/cache`, '-o', 'Debug::NoLocking=1'];
	try {
		mkdirSync(path.join(apt, 'lists/partial'), {recursive: true});
		mkdirSync(path.join(apt, 'cache/archives/partial'), {recursive: true});
		mkdirSync(root, {recursive: true});
		runTool('apt-get', [...own, 'update']);
		const needed = runTool('apt-cache', [
			...own,
			'depends',
			'--recurse',
			...['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances', 'pre-depends'].map(
				(no) => `--no-${no}`,
			),
			name,
		]);
		const packages = needed.split('\n').filter((line) => wanted.test(line) && !ownLibraries.test(line));
		runTool('apt-get', [...own, 'download', ...packages], apt);
		for (const file of globSync(`${apt}/*.deb`)) {
			runTool('dpkg-deb', ['-x', file, root]);
		}

		rmSync(directory, {recursive: true, force: true});
		renameSync(root, directory);
	} finally {
		rmSync(apt, {recursive: true, force: true});
		rmSync(root, {recursive: true, force: true});
	}
}

/**
Makes sure that a program is available. Tries the given ways to get it in order.

@param program - Its usual name, and the command to suggest if no way works.
@param find - Finds the program without fetching anything.
@throws If the program cannot be installed: the tests that need it must fail rather than be skipped.
*/
export function ensureProgram<Found>(
	{name, install}: {readonly name: string; readonly install: string},
	find: () => Found | undefined,
	ways: ReadonlyArray<() => void>,
): Found {
	const causes: unknown[] = [];
	for (const get of [() => undefined, ...ways]) {
		try {
			get();
		} catch (error) {
			causes.push(error);
		}

		const found = find();
		if (found !== undefined) {
			return found;
		}
	}

	const reasons = causes.map((cause) => (cause instanceof Error ? cause.message : String(cause)));
	throw new AggregateError(
		causes,
		`The tests need ${name}, which could not be fetched (${reasons.join('; ')}).\nInstall it: ${install}`,
	);
}
