/**
`npm run bench [name...]`: bundles each benchmark like the program and runs it in its own process, because a test runner would be measured with it.
Exits with 1 if a benchmark misses its target.
*/
import {spawnSync} from 'node:child_process';
import {readdirSync} from 'node:fs';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const folder = fileURLToPath(new URL('.', import.meta.url));
// The same depth as the helpers' folder, because they find the built program relative to themselves.
const output = fileURLToPath(new URL('../../node_modules/.cache/bench/', import.meta.url));
const wanted = process.argv.slice(2);
const names = readdirSync(folder)
	.filter((file) => file.endsWith('.bench.ts'))
	.map((file) => file.replace('.bench.ts', ''))
	.filter((name) => wanted.length === 0 || wanted.includes(name));

await build({
	entryPoints: names.map((name) => `${folder}${name}.bench.ts`),
	outdir: output,
	outExtension: {'.js': '.mjs'},
	bundle: true,
	platform: 'node',
	format: 'esm',
	packages: 'external',
	loader: {'.lua': 'text', '.html': 'text', '.svg': 'text'},
	logLevel: 'warning',
});

const failed = names.filter(
	(name) =>
		// The built program must be this checkout's, even if node_modules is a link to another one.
		spawnSync(process.execPath, ['--preserve-symlinks-main', `${output}${name}.bench.mjs`], {stdio: 'inherit'})
			.status !== 0,
);
process.stdout.write(failed.length === 0 ? 'All targets met.\n' : `Missed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
