/**
Builds dist/canhazgpu-PLATFORM, a single executable that needs no Node.js, and an archive of it with licenses, man pages and install script. The
runtime is Bun, downloaded as an npm package and verified by the checksums below. Exits with code 2 if Bun cannot be downloaded.
*/
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {
	copyFileSync,
	cpSync,
	existsSync,
	mkdirSync,
	readFileSync,
	readdirSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';

const version = '1.4.5';

/** Bun's npm package for each platform, and the SHA-512 of its file. */
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
		giveUp(`${name}@${version} cannot be downloaded: ${error.message}`);
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

run(
	bun,
	'build',
	'--compile',
	'--format=esm',
	// Each command loads only the code that it needs, as precompiled bytecode.
	'--splitting',
	'--bytecode',
	// Keeps names, so that stack traces are readable.
	'--minify-whitespace',
	'--minify-syntax',
	// Prevents a .env or bunfig.toml in the working directory from changing the program.
	'--no-compile-autoload-dotenv',
	'--no-compile-autoload-bunfig',
	// The binary calls NVIDIA's library through bun:ffi instead of koffi. Ink uses react-devtools-core only in development.
	'--external=koffi',
	'--external=react-devtools-core',
	`--outfile=${binary}`,
	'dist/cli.js',
);

const texts = ['dist/third-party-licenses.txt', '.config/bun-licenses.txt'].map((file) =>
	readFileSync(path.join(root, file), 'utf8').replaceAll('@VERSION@', version),
);
writeFileSync(path.join(root, `${binary}.licenses.txt`), texts.join('\n'));

// The archive of this platform: the program, its licenses and man pages, and the script that installs them.
const {version: own} = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const archived = `canhazgpu-${own}-${platform}`;
const stage = path.join(root, 'dist', archived);
rmSync(stage, {recursive: true, force: true});
mkdirSync(stage);
copyFileSync(path.join(root, binary), path.join(stage, 'canhazgpu'));
copyFileSync(path.join(root, `${binary}.licenses.txt`), path.join(stage, 'licenses.txt'));
for (const file of ['install.sh', 'canhazgpu-web.service', 'canhazgpu-keep.service']) {
	copyFileSync(path.join(root, 'source/installer', file), path.join(stage, file));
}

cpSync(path.join(root, 'dist/man'), path.join(stage, 'man'), {recursive: true});
run('tar', '--owner=0', '--group=0', '-czf', `dist/${archived}.tar.gz`, '-C', 'dist', archived);
rmSync(stage, {recursive: true});
process.stdout.write(`dist/${archived}.tar.gz\n`);
process.stdout.write(`${binary}: ${Math.round(statSync(path.join(root, binary)).size / 1024 / 1024)} MiB\n`);
