/** The npm package works without any other package, and runs no script when installed. */
import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {
	chmodSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import {builtinModules} from 'node:module';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import packageJson from '../package.json' with {type: 'json'};
import {answerOf} from './bench/_helpers/nvidia-tables.js';
import {createEmbeddedBox, type Box} from './_helpers/program/cli.js';
import {eventually} from './_helpers/eventually.js';
import {compileNvml, hasCompiler} from './_helpers/machine/compiled/nvml-stub.js';
import {stubTool} from './_helpers/machine/stub-tool.js';
import {slowTest} from './_helpers/slow.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(path.join(root, 'readme.md'), 'utf8');

/** Packages that the program loads at run time. The bundle contains all other packages. */
const installedPackages = ['koffi'];

let directory = '';
let scriptLog = '';
let box: Box;

/** The folder of the installed package. */
const installed = (): string => path.join(directory, 'lib/node_modules/canhazgpu');

/** Runs npm with a shell that logs every script it is given. */
function npm(words: readonly string[]): void {
	const shell = path.join(directory, 'script-shell');
	writeFileSync(shell, `#!/bin/sh\necho "$@" >> '${scriptLog}'\nexec sh "$@"\n`);
	chmodSync(shell, 0o755);
	execFileSync('npm', words, {
		cwd: root,
		// Npm uses neither the network nor this account's cache.
		env: {
			...process.env,
			npm_config_script_shell: shell,
			npm_config_offline: 'true',
			npm_config_cache: path.join(directory, 'cache'),
		},
		stdio: 'pipe',
	});
}

beforeAll(async () => {
	directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-package-'));
	scriptLog = path.join(directory, 'scripts');
	const line = readme.split('\n').find((each) => each.startsWith('sudo npm install --global '))!;
	// `koffi` would have to come from the network, and is optional.
	npm([...line.split('#', 1)[0]!.trim().split(' ').slice(2), '--prefix', directory, '--omit', 'optional', '--silent']);
	box = await createEmbeddedBox(2);
});

afterAll(() => {
	box.remove();
	rmSync(directory, {recursive: true, force: true});
});

const start = (words: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
	spawn(process.execPath, [path.join(installed(), 'dist/cli.js'), ...words], {
		cwd: box.home,
		env: {...box.environment, ...environment},
		stdio: ['ignore', 'pipe', 'pipe'],
	});

async function run(...words: readonly string[]) {
	const child = start(words);
	const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
	return {exitCode: child.exitCode, stdout, stderr};
}

/** Starts the installed dashboard and waits for its address. */
async function startWeb(environment: Readonly<Record<string, string>> = {}): Promise<string> {
	const child = start(['web', '--port', '0'], environment);
	onTestFinished(() => {
		child.kill('SIGKILL');
	});
	let stdout = '';
	child.stdout.setEncoding('utf8').on('data', (data: string) => {
		stdout += data;
	});
	await eventually(() => stdout.includes('\n'));
	return /http:\S+(?=\/)/v.exec(stdout)![0];
}

test('the npm install command of the readme runs no package scripts', () => {
	expect(existsSync(scriptLog) ? readFileSync(scriptLog, 'utf8') : '').toBe('');
	expect(existsSync(path.join(installed(), 'node_modules'))).toBe(false);
	// The logging shell is in use. Otherwise the first line would prove nothing.
	npm(['exec', '--call', 'true']);
	expect(readFileSync(scriptLog, 'utf8')).not.toBe('');
});

test('package.json has koffi, in an exact version, as its only dependency', () => {
	expect(packageJson).not.toHaveProperty('dependencies');
	expect(Object.keys(packageJson.optionalDependencies)).toEqual(installedPackages);
	expect(Object.values(packageJson.optionalDependencies).join(' ')).toMatch(/^\d+\.\d+\.\d+$/v);
});

test('the bundle imports only Node modules and optional packages', async () => {
	const {metafile} = await build({
		absWorkingDir: installed(),
		entryPoints: ['dist/cli.js'],
		bundle: true,
		packages: 'external',
		platform: 'node',
		format: 'esm',
		outdir: 'unused',
		write: false,
		metafile: true,
		logLevel: 'silent',
	});
	const imported = new Set(
		Object.values(metafile.inputs).flatMap(({imports}) =>
			imports.filter(({external}) => external === true).map(({path: name}) => name),
		),
	);
	const others = [...imported].filter((name) => !name.startsWith('node:') && !builtinModules.includes(name));
	// Ink loads its development tools only if DEV is set, and bun:ffi is part of Bun.
	expect(others.toSorted()).toEqual(['bun:ffi', 'koffi', 'react-devtools-core']);
});

test('the installed package runs --version, status, top --once and report without any other package', async () => {
	expect(await run('--version')).toEqual({exitCode: 0, stdout: `${packageJson.version}\n`, stderr: ''});
	const status = await run('status');
	expect(status).toMatchObject({exitCode: 0});
	expect(status.stdout).toContain('AVAILABLE');
	const top = await run('top', '--once');
	expect(top).toMatchObject({exitCode: 0});
	expect(top.stdout).toContain('AVAILABLE');
	expect(await run('report', '--json')).toMatchObject({exitCode: 0});
});

test('the installed package serves the dashboard without any other package', async () => {
	const url = await startWeb();
	const page = await (await fetch(`${url}/`)).text();
	const script = /src="(?<path>\/page\/[^"]+\.js)"/v.exec(page)!.groups!['path']!;
	for (const address of ['/', '/api/status', '/metrics', script, '/api/report']) {
		expect([address, (await fetch(`${url}${address}`)).status]).toEqual([address, 200]);
	}
});

describe.skipIf(!hasCompiler)('NVML', () => {
	/** Starts web. The uuid of the first GPU shows whether readings come from NVML or from nvidia-smi. */
	const watch = async () => {
		const tool = stubTool(box, 'nvidia-smi', answerOf(box.home, {gpuCount: 2, pids: [], memoryUsed: 4}));
		const made = await box.run('admin --gpus 2 --provider nvidia --force', {PATH: tool.searchPath});
		expect(made).toMatchObject({exitCode: 0});
		const url = await startWeb({PATH: tool.searchPath, LD_LIBRARY_PATH: compileNvml()});
		return {
			tool,
			async uuid() {
				const rows = (await (await fetch(`${url}/api/status`)).json()) as ReadonlyArray<{readonly uuid?: string}>;
				return rows[0]?.uuid;
			},
		};
	};

	slowTest('is not used without koffi, so web calls nvidia-smi instead', async () => {
		const {tool, uuid} = await watch();
		await eventually(async () => {
			expect(await uuid()).toBe('GPU-00000000-0000-0000-0000-000000000000');
			return tool.calls().filter((call) => call.includes('--query-gpu')).length > 3;
		});
	});

	slowTest('is used through koffi even if the install script of koffi did not run', async () => {
		for (const name of [
			'koffi',
			...readdirSync(path.join(root, 'node_modules/@koromix')).map((each) => `@koromix/${each}`),
		]) {
			mkdirSync(path.join(installed(), 'node_modules', path.dirname(name)), {recursive: true});
			cpSync(path.join(root, 'node_modules', name), path.join(installed(), 'node_modules', name), {recursive: true});
			expect(existsSync(path.join(installed(), 'node_modules', name, 'build'))).toBe(false);
		}

		const {uuid} = await watch();
		await eventually(async () => (await uuid()) === 'GPU-0');
	});
});

describe('the installed package', () => {
	const notices = (): string => readFileSync(path.join(installed(), 'dist/third-party-licenses.txt'), 'utf8');

	test('contains the license of the program', () => {
		expect(readFileSync(path.join(installed(), 'license'), 'utf8')).toMatch(/^MIT License\n/v);
		expect(packageJson.license).toBe('MIT');
	});

	test('contains the license text of every bundled package', () => {
		const titles = notices()
			.matchAll(/^(?<name>\S+) \d\S* \((?<license>[^\)]+)\)$/gmv)
			.map(({groups}) => [groups!['name']!, groups!['license']!] as const)
			.toArray();
		// A few packages of each layer, and of each license.
		for (const [name, license] of [
			['ink', 'MIT'],
			['react', 'MIT'],
			['uplot', 'MIT'],
			['preact', 'MIT'],
			['hono', 'MIT'],
			['yoga-layout', 'MIT'],
			['yaml', 'ISC'],
			['smol-toml', 'BSD-3-Clause'],
			['prom-client', 'Apache-2.0'],
		]) {
			expect(titles).toContainEqual([name, license]);
		}

		expect(new Set(titles.map(([, license]) => license))).toEqual(
			new Set(['MIT', 'ISC', 'BSD-3-Clause', 'Apache-2.0']),
		);
		const sections = notices()
			.split(/^={80}\n.*\n={80}\n/mv)
			.slice(1);
		expect(sections).toHaveLength(titles.length);
		// A package that is itself a bundle, meow, has the licenses of its parts in a file of its own.
		expect(notices()).toContain('Name: yargs-parser');
		for (const section of sections) {
			expect(section.trim().length).toBeGreaterThan(500);
		}
	});
});
