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
	// Not bundled: react-devtools-core is used only in development, koffi is native code, and bun:ffi is part of Bun.
	external: ['react-devtools-core', 'koffi', 'bun:ffi'],
	moduleTypes: {'.lua': 'text', '.bash': 'text', '.zsh': 'text', '.fish': 'text', '.md': 'text'},
	transform: {target: 'node22', define: {'process.env.NODE_ENV': '"production"'}},
	// Dynamic imports of modules that are also in a common chunk are intended.
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
		// Keeps names and line breaks, so that stack traces are readable.
		minify: {compress: true, mangle: false, codegen: false},
		// V8 stores a file with non-ASCII characters with two bytes for each character, which slows the start by about 50 ms.
		charset: 'ascii',
		comments: false,
		codeSplitting: {
			groups: [
				// `--version` loads only cli.ts and this chunk.
				{name: 'version', test: /\/start-up\/version\.ts$/, priority: 2},
				// Every command loads all of main.ts. A single file takes less time to open than several.
				{name: 'main', test: /\/source\/main\.ts$/, priority: 1},
				{name: 'shared', minShareCount: 3},
			],
		},
	},
});

const inputs = output.flatMap(({moduleIds = []}) => moduleIds.map((id) => path.relative(root, id)));
writeFileSync(path.join(root, 'dist/third-party-licenses.txt'), noticesOf([...inputs, ...page.inputs], root));

// man-pages.js imports the program to read its help. It is bundled first, because Node.js cannot import the .md and .lua files of the program.
const manPages = path.join(root, 'node_modules/.cache/man-pages');
await build({...options, input: './.config/man-pages.js', plugins: [pagePlugin], output: {dir: manPages, cleanDir: true}});
const {makeManPages} = await import(path.join(manPages, 'man-pages.js'));
await makeManPages(root);
