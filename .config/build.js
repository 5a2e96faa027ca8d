/**
Bundles the program into dist/: cli.js with its chunks, the licenses of the bundled packages, and the man pages.
*/
import {rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'rolldown';
import {bundlePage, pageModule} from './page.ts';
import {noticesOf} from './third-party-licenses.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = await bundlePage();

/** Replaces the dashboard's index.html by its bundled files. */
const pagePlugin = {
	name: 'page',
	load: (id) => (pageModule.test(id) ? {code: JSON.stringify(page.files), moduleType: 'json'} : undefined),
};

const options = {
	cwd: root,
	platform: 'node',
	// Ink loads its development tools only in development. koffi holds native code. bun:ffi is part of Bun.
	external: ['react-devtools-core', 'koffi', 'bun:ffi'],
	moduleTypes: {'.lua': 'text', '.bash': 'text', '.zsh': 'text', '.fish': 'text', '.md': 'text'},
	transform: {target: 'node22', define: {'process.env.NODE_ENV': '"production"'}},
	// Some modules of the common chunks are also imported dynamically.
	checks: {ineffectiveDynamicImport: false},
};

rmSync(path.join(root, 'dist'), {recursive: true, force: true});
const {output} = await build({
	...options,
	input: {cli: 'source/cli.ts'},
	plugins: [pagePlugin],
	output: {
		dir: 'dist',
		chunkFileNames: 'chunks/[name]-[hash].js',
		// Names and line breaks stay, so that stack traces can be read.
		minify: {compress: true, mangle: false, codegen: false},
		// V8 keeps a file with non-ASCII characters as two bytes for each character, which costs about 50 ms of a start.
		charset: 'ascii',
		comments: false,
		codeSplitting: {
			groups: [
				// `--version` loads only cli.ts and this.
				{name: 'version', test: /\/start-up\/version\.ts$/, priority: 2},
				// Every command loads all of main.ts. It is one file because each file costs time to open.
				{name: 'main', test: /\/source\/main\.ts$/, priority: 1},
				{name: 'shared', minShareCount: 3},
			],
		},
	},
});

const inputs = output.flatMap(({moduleIds = []}) => moduleIds.map((id) => path.relative(root, id)));
writeFileSync(path.join(root, 'dist/third-party-licenses.txt'), noticesOf([...inputs, ...page.inputs], root));

// The man pages are made from the help of the commands. Their maker is bundled first, because Node cannot import the program's .md and .lua files.
const manPages = path.join(root, 'node_modules/.cache/man-pages');
await build({...options, input: './.config/man-pages.js', plugins: [pagePlugin], output: {dir: manPages, cleanDir: true}});
const {makeManPages} = await import(path.join(manPages, 'man-pages.js'));
await makeManPages(root);
