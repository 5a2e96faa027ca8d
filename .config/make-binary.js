/*
Makes dist/canhazgpu-PLATFORM of the built program: one file that runs where there is no Node, beside it the licences of what is in it, and an
archive of both with the script that installs them. The runtime in it is Bun, out of its npm
package, of a version whose contents are written down here; it is fetched once and kept in node_modules/.cache. Exit code 2: Bun is not to
be had.
*/
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {
	copyFileSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	readdirSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';

const version = '1.4.5';

/** By platform: the package, and the SHA-512 of its file. */
const packages = {
	'linux-x64': [
		'@oven/bun-linux-x64',
		'IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==',
	],
	'linux-arm64': [
		'@oven/bun-linux-aarch64',
		'4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==',
	],
};

const platform = `${process.platform}-${process.arch}`;
const root = fileURLToPath(new URL('..', import.meta.url));
const cache = path.join(root, 'node_modules/.cache/bun', `${version}-${platform}`);
const bun = path.join(cache, 'package/bin/bun');

const run = (command, ...words) => execFileSync(command, words, {cwd: root, stdio: ['ignore', 'pipe', 'inherit']});

function giveUp(words) {
	process.stderr.write(`${words}\n`);
	process.exit(2);
}

function fetchBun([name, sha512]) {
	const work = `${cache}.${process.pid}`;
	mkdirSync(work, {recursive: true});
	process.once('exit', () => rmSync(work, {recursive: true, force: true}));
	try {
		run('npm', 'pack', '--silent', `--pack-destination=${work}`, `${name}@${version}`);
	} catch (error) {
		giveUp(`${name}@${version} is not to be had: ${error.message}`);
	}

	const file = path.join(work, readdirSync(work)[0]);
	if (createHash('sha512').update(readFileSync(file)).digest('base64') !== sha512) {
		throw new Error(`${name}@${version} is not what it was: its SHA-512 differs`);
	}

	run('tar', '-xzf', file, '-C', work);
	rmSync(file);
	rmSync(cache, {recursive: true, force: true});
	renameSync(work, cache);
}

const known = packages[platform];
if (known === undefined) {
	giveUp(`Binaries are made for ${Object.keys(packages).join(' and ')}, and this is ${platform}`);
}

if (!existsSync(bun)) {
	fetchBun(known);
}

const binary = path.join('dist', `canhazgpu-${platform}`);

/** Compiles dist/cli.js and all that it loads into one file. */
function compile(file, ...more) {
	run(
		bun,
		'build',
		'--compile',
		'--format=esm',
		// Each verb loads what it needs, compiled beforehand.
		'--splitting',
		'--bytecode',
		// Most verbs end before it pays to compile a loop to machine code: that took a sixth of their processor time.
		'--compile-jit-policy=10',
		// A directory that somebody happens to be in has no say.
		'--no-compile-autoload-dotenv',
		'--no-compile-autoload-bunfig',
		// Of Node alone.
		'--external=koffi',
		...more,
		`--outfile=${file}`,
		'dist/cli.js',
	);
}

/** What people run most, and on which engine. A start in front of Slurm comes first: all else there is the work of Slurm's own commands. */
const usualVerbs = [
	['run --gpus 2 -- true', 'slurm'],
	['status', 'local'],
	['reserve --short', 'local'],
	['release', 'local'],
	['run -- true', 'local'],
];

/**
Runs a binary in a pool of its own, and has it write down in which order it needs its code.

@returns Files for `--bytecode-order`.
*/
function recordOrder(program, directory) {
	const commands = path.join(directory, 'commands');
	mkdirSync(commands);
	// In the place of Slurm's own, which starts the job.
	writeFileSync(path.join(commands, 'srun'), '#!/bin/sh\n', {mode: 0o755});
	const environment = {
		PATH: `${commands}:/usr/bin:/bin`,
		HOME: directory,
		CANHAZGPU_POOL_DIRECTORY: path.join(directory, 'pool'),
		CANHAZGPU_STORE: 'embedded',
	};
	const execute = (words, more) =>
		execFileSync(program, words.split(' '), {cwd: directory, env: {...environment, ...more}, stdio: 'ignore'});
	mkdirSync(environment.CANHAZGPU_POOL_DIRECTORY);
	execute('admin --gpus 8 --provider fake');
	return usualVerbs.map(([words, engine], index) => {
		const order = path.join(directory, `order-${index}`);
		execute(words, {BUN_BYTECODE_ORDER_OUT: order, CANHAZGPU_ENGINE: engine});
		return order;
	});
}

// What is needed together lies together then, so that a start reads fewer pages of the file.
const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-binary-'));
try {
	const first = path.join(directory, 'canhazgpu');
	compile(first);
	compile(binary, `--bytecode-order=${recordOrder(first, directory).join(',')}`);
} finally {
	rmSync(directory, {recursive: true, force: true});
}

const texts = ['dist/third-party-licenses.txt', '.config/bun-licenses.txt'].map((file) =>
	readFileSync(path.join(root, file), 'utf8').replaceAll('@VERSION@', version),
);
writeFileSync(path.join(root, `${binary}.licenses.txt`), texts.join('\n'));

/** What a release has for this platform: the program, what belongs to it, and the script that puts all of it in its place. */
const {version: own} = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const archived = `canhazgpu-${own}-${platform}`;
const stage = path.join(root, 'dist', archived);
rmSync(stage, {recursive: true, force: true});
mkdirSync(stage);
copyFileSync(path.join(root, binary), path.join(stage, 'canhazgpu'));
copyFileSync(path.join(root, `${binary}.licenses.txt`), path.join(stage, 'licenses.txt'));
for (const file of ['install.sh', 'canhazgpu-web.service']) {
	copyFileSync(path.join(root, 'source/installer', file), path.join(stage, file));
}

cpSync(path.join(root, 'dist/man'), path.join(stage, 'man'), {recursive: true});
run('tar', '--owner=0', '--group=0', '-czf', `dist/${archived}.tar.gz`, '-C', 'dist', archived);
rmSync(stage, {recursive: true});
process.stdout.write(`dist/${archived}.tar.gz\n`);
process.stdout.write(`${binary}: ${Math.round(statSync(path.join(root, binary)).size / 1024 / 1024)} MiB\n`);
