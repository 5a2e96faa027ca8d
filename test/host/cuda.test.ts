/** CUDA installations in real directories. Their version file and owner decide whether they are accepted. */
import {chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {beforeEach, describe, expect, onTestFinished, test} from 'vitest';
import {findCuda, pathsInModule} from '../../source/host/cuda.js';

let base: string;

beforeEach(() => {
	base = mkdtempSync(path.join(realpathSync(tmpdir()), 'chg-cuda-'));
	const made = base;
	onTestFinished(() => {
		rmSync(made, {recursive: true});
	});
});

/** Creates an installation whose version file has the format of NVIDIA's packages. */
function install(name: string, version: string, {file = 'version.json'} = {}): string {
	const root = path.join(base, name);
	mkdirSync(path.join(root, 'bin'), {recursive: true});
	mkdirSync(path.join(root, 'lib64'));
	const text =
		file === 'version.json'
			? JSON.stringify({cuda: {name: 'CUDA SDK', version}, cuda_nvcc: {version: '1.2.3'}})
			: `CUDA Version ${version}\n`;
	writeFileSync(path.join(root, file), text);
	return root;
}

const find = (environment: Readonly<Record<string, string>> = {}) => findCuda({parents: [base], environment});

describe('a CUDA installation', () => {
	test('is found in a directory of any name, with the version from its version file', () => {
		const lying = install('cuda-11.8', '12.4.1');
		const old = install('cuda-9', '10.2.89', {file: 'version.txt'});
		install('cudnn', '12.4');
		expect(find()).toEqual({
			installations: [
				{root: lying, version: '12.4.1', libraries: `${lying}/lib64`},
				{root: old, version: '10.2.89', libraries: `${old}/lib64`},
			],
			refused: [],
		});
	});

	test('is listed once, even if several links lead to it', () => {
		const root = install('cuda-12.4', '12.4.1');
		symlinkSync('cuda-12.4', path.join(base, 'cuda'));
		symlinkSync(root, path.join(base, 'cuda-12'));
		expect(find({CUDA_HOME: path.join(base, 'cuda')}).installations).toEqual([
			{root, version: '12.4.1', libraries: `${root}/lib64`},
		]);
	});

	test('in CUDA_HOME is listed first', () => {
		install('cuda-12.4', '12.4.1');
		const own = install('own/toolkit', '12.4.1');
		expect(find({CUDA_HOME: own}).installations[0]!.root).toBe(own);
		expect(find({CUDA_HOME: 'own/toolkit'}).installations).toHaveLength(1);
		expect(find({CUDA_HOME: '/nowhere', CUDA_PATH: ''}).installations).toHaveLength(1);
	});

	test('without a version file is ignored', () => {
		mkdirSync(path.join(base, 'cuda-12.4', 'bin'), {recursive: true});
		expect(find()).toEqual({installations: [], refused: []});
	});

	test('is found through the modulefiles of environment modules', () => {
		const root = install('apps/cuda/12.4', '12.4.1');
		const other = install('apps/cuda/11.8', '11.8.0');
		mkdirSync(path.join(base, 'modules', 'cuda'), {recursive: true});
		writeFileSync(
			path.join(base, 'modules', 'cuda', '12.4'),
			`#%Module\nset version 12.4\nset root ${base}/apps/cuda/$version\nprepend-path PATH $root/bin\n`,
		);
		writeFileSync(
			path.join(base, 'modules', 'cuda', '11.8.lua'),
			`local base = "${other}"\nprepend_path("PATH", pathJoin(base, "bin"))\n`,
		);
		writeFileSync(path.join(base, 'modules', 'cuda', '.version'), root);
		const modules = path.join(base, 'modules');
		expect(find({MODULEPATH: `/nowhere:${modules}`}).installations.map(({version}) => version)).toEqual([
			'11.8.0',
			'12.4.1',
		]);
		expect(find({MODULEPATH: 'modules'}).installations).toEqual([]);
	});
});

test('pathsInModule returns the paths in a modulefile', () => {
	expect(pathsInModule('prepend-path LD_LIBRARY_PATH "/opt/nvidia/cuda-12/lib64"')).toEqual([
		'/opt/nvidia/cuda-12/lib64',
		'/opt/nvidia/cuda-12',
	]);
	expect(pathsInModule('set a $a\nset b $a/x\nputs $c')).toEqual(['/x']);
	expect(pathsInModule('setenv("CUDA_HOME", "/apps/../etc")')).toEqual(['/etc']);
});

describe('a CUDA installation is rejected if', () => {
	const refusals = (environment: Readonly<Record<string, string>> = {}) => {
		const {installations, refused} = find(environment);
		expect(installations).toEqual([]);
		return refused;
	};

	test.each(['', 'bin', 'lib64'])('its directory "%s" is writable by others', (name) => {
		const root = install('cuda-12.4', '12.4.1');
		chmodSync(path.join(root, name), 0o777);
		expect(refusals()).toEqual([
			{root, problem: expect.stringMatching(/can be changed by other|can replace/v) as string},
		]);
	});

	test('its parent directory allows others to replace it', () => {
		const root = install('open/cuda-12.4', '12.4.1');
		chmodSync(path.join(base, 'open'), 0o777);
		expect(refusals({CUDA_HOME: root})[0]!.problem).toContain('can replace directories');
	});

	test('its version file is writable by others or names no version', () => {
		const cases: ReadonlyArray<readonly [spoil: (file: string) => void, problem: string]> = [
			[
				(file) => {
					chmodSync(file, 0o666);
				},
				'can be changed by other accounts',
			],
			[
				(file) => {
					writeFileSync(file, '{"cuda":{"version":"soon"}}');
				},
				'it contains no version',
			],
			[
				(file) => {
					writeFileSync(file, 'not json');
				},
				'it contains no version',
			],
			[
				(file) => {
					writeFileSync(file, '[]');
				},
				'it contains no version',
			],
			[
				(file) => {
					writeFileSync(file, 'null');
				},
				'it contains no version',
			],
		];
		for (const [index, [spoil, problem]] of cases.entries()) {
			const root = install(`cuda-${index}`, '12.4.1');
			spoil(path.join(root, 'version.json'));
			expect(refusals().find((each) => each.root === root)?.problem).toBe(
				`has a version.json that cannot be used: ${problem}`,
			);
		}
	});

	test('it has no programs', () => {
		const root = path.join(base, 'cuda-12.4');
		mkdirSync(root);
		writeFileSync(path.join(root, 'version.txt'), 'CUDA Version 12.4.1\n');
		expect(refusals()).toEqual([{root, problem: 'has no bin directory'}]);
	});

	test.skipIf(process.getuid?.() !== 0)('it belongs to another account', () => {
		const root = install('cuda-12.4', '12.4.1');
		chownSync(root, 61_002, 61_002);
		expect(refusals()[0]!.problem).toContain('61002');
	});
});
