/**
Finds a redis-server (or valkey-server), and gets one when there is none.
*/
import {accessSync, constants, globSync, mkdirSync, mkdtempSync, renameSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {installPackage, runTool} from '../machine/apt.js';

export type RedisProgram = {
	readonly command: string;
	readonly environment: NodeJS.ProcessEnv;
};

const names = ['redis-server', 'valkey-server'];
const cache = fileURLToPath(new URL('../../../node_modules/.cache/redis', import.meta.url));

const isProgram = (file: string): boolean => {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
};

function onPath(): RedisProgram | undefined {
	const directories = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/bin', '/usr/local/bin'];
	const command = directories
		.flatMap((directory) => names.map((name) => path.join(directory, name)))
		.find((file) => isProgram(file));
	return command === undefined ? undefined : {command, environment: process.env};
}

/** What was unpacked by an earlier run, with its own libraries. */
function inCache(): RedisProgram | undefined {
	const command = path.join(cache, 'usr/bin/redis-server');
	if (!isProgram(command)) {
		return undefined;
	}

	const libraries = globSync([`${cache}/usr/lib/*-linux-*`, `${cache}/lib/*-linux-*`]);
	return {command, environment: {...process.env, LD_LIBRARY_PATH: libraries.join(':')}};
}

/** Looks, and fetches nothing. */
export const findRedis = (): RedisProgram | undefined => onPath() ?? inCache();

/** Unpacks the package and the libraries it needs into node_modules/.cache, which takes no rights and changes no system. */
export function unpack(): void {
	// A path of apt may hold no blanks, and that of the repository may.
	const apt = mkdtempSync(path.join(tmpdir(), 'canhazgpu-apt-'));
	const root = `${cache}.${process.pid}`;
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
			'redis-server',
		]);
		const packages = needed
			.split('\n')
			.filter(
				(line) => /^(?:redis|lib|lua)[\w+\-.]*$/v.test(line) && !/^(?:libc6|libc-bin|libgcc|libcrypt)/v.test(line),
			);
		runTool('apt-get', [...own, 'download', ...packages], apt);
		for (const file of globSync(`${apt}/*.deb`)) {
			runTool('dpkg-deb', ['-x', file, root]);
		}

		rmSync(cache, {recursive: true, force: true});
		renameSync(root, cache);
	} finally {
		rmSync(apt, {recursive: true, force: true});
		rmSync(root, {recursive: true, force: true});
	}
}

/**
Makes sure that there is one.

@throws When it cannot be had: the tests that need it must fail, not be left out.
*/
export function ensureRedis(): RedisProgram {
	const causes: unknown[] = [];
	for (const get of [
		() => undefined,
		() => {
			installPackage('redis-server');
		},
		unpack,
	]) {
		try {
			get();
		} catch (error) {
			causes.push(error);
		}

		const found = findRedis();
		if (found !== undefined) {
			return found;
		}
	}

	const reasons = causes.map((cause) => (cause instanceof Error ? cause.message : String(cause)));
	throw new AggregateError(
		causes,
		`The tests need redis-server, which could not be fetched (${reasons.join('; ')}).\nInstall it: apt-get install redis-server, or: brew install redis`,
	);
}
