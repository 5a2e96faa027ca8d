/*
Bundles the dashboard's page. index.html names its script and styles by their source paths. The bundled files are served from a folder whose name is
a hash of their content. The build and the tests replace the module `source/web/page/index.html` by the result.
*/
import {createHash} from 'node:crypto';
import {readFileSync, readdirSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {brotliCompressSync, gzipSync} from 'node:zlib';
import {build} from 'esbuild';
import {rolldown} from 'rolldown';
import type {PageFile} from '../source/web/server/assets.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = 'source/web/page';
const types: Readonly<Record<string, string>> = {
	'.js': 'text/javascript; charset=utf-8',
	'.css': 'text/css; charset=utf-8',
};

/** Reads a file of the page, and removes line breaks and indentation. */
const read = (file: string): string => readFileSync(path.join(root, folder, file), 'utf8').replaceAll(/\n\t*/gv, '');

/** The module that is replaced by the bundled page. */
export const pageModule = /\/source\/web\/page\/index\.html$/;

export type BundledPage = {
	readonly files: readonly PageFile[];
	/** The source files, by their paths within this repository. */
	readonly inputs: readonly string[];
};

const licenceNote = '/* Contains packages under the MIT licence: see third-party-licenses.txt of canhazgpu */';

/** Dynamic import of a part that is loaded after the first view. */
const lateImport = /\bimport\((["'`]\.\/[^"'`]+["'`])\)/gv;

/** The expression that `source/web/page/late.tsx` appends to the address, because a browser never requests a module again that failed to load. */
const attempt = '(globalThis.again??"")';

/** Bundles the script: one file for the first view, one that every page loads after it, and parts that are loaded on demand. */
async function bundleScript() {
	const entry = path.join(root, folder, 'main.tsx');
	const first = new Set<string>();
	const followUp = new Set<string>();
	const bundle = await rolldown({
		cwd: root,
		input: entry,
		platform: 'browser',
		// Compiles JSX to calls of `h`. The default functions would be a second copy of the same code.
		transform: {
			target: 'esnext',
			jsx: {runtime: 'classic', pragma: 'h', pragmaFrag: 'Fragment'},
			inject: {h: ['preact', 'h'], Fragment: ['preact', 'Fragment']},
		},
		// The TypeScript settings also define how to compile JSX, with the same result.
		checks: {configurationFieldConflict: false},
		// Late parts import shared code from the file of the first view, because one file compresses better than two.
		preserveEntrySignatures: 'allow-extension',
		plugins: [
			{
				name: 'late-imports',
				renderChunk: (code) => code.replaceAll(lateImport, (_, address: string) => `import(${address}+${attempt})`),
			},
			{
				name: 'first-view',
				buildEnd() {
					const add = (id: string, found: Set<string>): void => {
						if (!first.has(id) && !found.has(id)) {
							found.add(id);
							for (const imported of this.getModuleInfo(id)?.importedIds ?? []) {
								add(imported, found);
							}
						}
					};

					add(entry, first);
					add(path.join(root, folder, 'follow-up/follow-up.ts'), followUp);
				},
			},
		],
	});
	const {output} = await bundle.generate({
		format: 'esm',
		entryFileNames: 'page.js',
		chunkFileNames: '[name].js',
		// Added after minification, which would remove this comment.
		postBanner: ({moduleIds}) => (moduleIds.some((id) => id.includes('/node_modules/')) ? licenceNote : ''),
		minify: true,
		// Minified code does not need annotations for minifiers.
		comments: {annotation: false},
		// Puts the code that late parts share into a single file, because it is small.
		codeSplitting: {
			groups: [
				{name: 'page', test: (id) => first.has(id)},
				{name: 'follow-up', test: (id) => followUp.has(id)},
				{name: 'shared', test: (id) => id.includes('/page/shared/') || id.includes('/preact/hooks/')},
			],
		},
	});
	await bundle.close();
	return output.filter((file) => file.type === 'chunk');
}

/** Bundles the styles: those of the first view, and those that are loaded later. */
async function bundleStyles() {
	const late = readdirSync(path.join(root, folder, 'styles/late')).filter((name) => name.startsWith('late-'));
	const sources = ['page.css', ...late.map((name) => `late/${name}`)];
	const {outputFiles, metafile} = await build({
		absWorkingDir: root,
		entryPoints: sources.map((name) => `${folder}/styles/${name}`),
		entryNames: '[name]',
		outdir: 'page',
		write: false,
		bundle: true,
		target: 'esnext',
		minify: true,
		metafile: true,
		logLevel: 'warning',
	});
	const styles = outputFiles.map(({path: file, text}) => ({name: path.basename(file), text}));
	return {styles, inputs: Object.keys(metafile.inputs)};
}

/** Returns a file of the page, compressed at build time with the highest compression. */
const compressed = (file: string, type: string, text: string, isImmutable: boolean): PageFile => ({
	path: file,
	type,
	isImmutable,
	br: brotliCompressSync(text).toString('base64'),
	gzip: gzipSync(text, {level: 9}).toString('base64'),
});

export async function bundlePage(): Promise<BundledPage> {
	const {styles, inputs} = await bundleStyles();
	const chunks = await bundleScript();
	const parts = [...chunks.map(({fileName, code}) => ({name: fileName, text: code})), ...styles];
	const hash = createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 8);
	const html = read('index.html')
		.replace('"main.tsx"', `"/page/${hash}/page.js"`)
		.replace('"styles/page.css"', `"/page/${hash}/page.css"`);
	const files = [
		compressed('/', 'text/html; charset=utf-8', html, false),
		...['icon.svg', 'icon-taken.svg', 'icon-stale.svg'].map((name) =>
			compressed(`/${name}`, 'image/svg+xml', read(`icons/${name}`), false),
		),
		...parts.map(({name, text}) => compressed(`/page/${hash}/${name}`, types[path.extname(name)]!, text, true)),
	];
	return {
		files,
		inputs: [...inputs, ...chunks.flatMap(({moduleIds}) => moduleIds.map((id) => path.relative(root, id)))],
	};
}
