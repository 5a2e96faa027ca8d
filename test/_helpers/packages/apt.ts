/** Packages of the system for the tests, in bounded time: CI has ten minutes for everything. */
import {execFileSync} from 'node:child_process';
import {existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';

/** The longest that one run of a tool may take. */
const longestMs = 120_000;

const patience = [
	// Another installation at the same time will be over soon.
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

/** Every machine has these already. */
const ownLibraries = /^(?:libc6|libc-bin|libgcc|libcrypt)/v;

/**
Unpacks a package and what it needs into a directory, which takes no rights and changes no system.

@param name
@param directory - Replaced as a whole.
@param wanted - Of what it needs, the packages that the machine may lack.
*/
export function unpackPackage(name: string, directory: string, wanted: RegExp): void {
	// A path of apt may hold no blanks, and that of the repository may.
	const apt = mkdtempSync(path.join(tmpdir(), 'canhazgpu-apt-'));
	const root = `${directory}.${process.pid}`;
	// Lists of our own: those of the system may be missing, and only root may fetch them.
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
Makes sure that a program is there, trying one way to get it after the other.

@param program - As people know it, with what to type where no way works.
@param find - Looks, and fetches nothing.
@throws When it cannot be had: the tests that need it must fail, not be left out.
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
