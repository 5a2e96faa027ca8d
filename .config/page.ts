/*
Bundles the page of the dashboard: index.html names its script and its style as they are in the source; what is served has their hashes in
their names. The build and the tests put the result in the place of the module `source/web/page/index.html`.
*/
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import {rolldown} from 'rolldown';
import type {PageFile} from '../source/web/server/assets.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = 'source/web/page';
const types: Readonly<Record<string, string>> = {
	'.js': 'text/javascript; charset=utf-8',
	'.css': 'text/css; charset=utf-8',
};

const read = (file: string): string => readFileSync(path.join(root, folder, file), 'utf8');

/** The module that stands for the page. */
export const pageModule = /\/source\/web\/page\/index\.html$/;

export type BundledPage = {
	readonly files: readonly PageFile[];
	/** The files that it was made of, by their paths within this repository. */
	readonly inputs: readonly string[];
};

const licenceNote = '/* Contains packages under the MIT licence: see third-party-licenses.txt of canhazgpu */';

/** The script in parts: what the first view needs, and what is loaded when it is wanted. */
async function bundleScript() {
	const bundle = await rolldown({
		cwd: root,
		input: `${folder}/main.tsx`,
		platform: 'browser',
		transform: {target: 'esnext', jsx: {runtime: 'automatic', importSource: 'preact'}},
		// The compiler's settings say the same of the source of JSX.
		checks: {configurationFieldConflict: false},
	});
	const {output} = await bundle.generate({
		format: 'esm',
		entryFileNames: 'page-[hash].js',
		chunkFileNames: '[name]-[hash].js',
		banner: licenceNote,
		minify: true,
		codeSplitting: {groups: [{name: 'shared', minShareCount: 2}]},
	});
	await bundle.close();
	return output.filter((file) => file.type === 'chunk');
}

async function bundleStyle() {
	const {outputFiles, metafile} = await build({
		absWorkingDir: root,
		entryPoints: [`${folder}/styles/page.css`],
		entryNames: 'page-[hash]',
		outdir: 'page',
		write: false,
		bundle: true,
		target: 'esnext',
		minify: true,
		metafile: true,
		logLevel: 'warning',
	});
	const [style] = outputFiles;
	return {name: path.basename(style!.path), text: style!.text, inputs: Object.keys(metafile.inputs)};
}

const fileOf = (name: string, text: string): PageFile => ({
	path: `/page/${name}`,
	type: types[path.extname(name)]!,
	text,
	isImmutable: true,
});

export async function bundlePage(): Promise<BundledPage> {
	const [chunks, style] = await Promise.all([bundleScript(), bundleStyle()]);
	const entry = chunks.find(({isEntry}) => isEntry)!;
	// Else the browser would learn of them only when the script is there.
	const preloads = entry.imports.map((name) => `<link rel="modulepreload" href="/page/${name}" />`);
	const html = read('index.html')
		.replace('"main.tsx"', `"/page/${entry.fileName}"`)
		.replace('"styles/page.css"', `"/page/${style.name}"`)
		.replace('</head>', `\t${preloads.join('')}\n\t</head>`);
	return {
		files: [
			{path: '/', type: 'text/html; charset=utf-8', text: html, isImmutable: false},
			...['icon.svg', 'icon-taken.svg', 'icon-stale.svg'].map((name) => ({
				path: `/${name}`,
				type: 'image/svg+xml',
				text: read(name),
				isImmutable: false,
			})),
			...chunks.map(({fileName, code}) => fileOf(fileName, code)),
			fileOf(style.name, style.text),
		],
		inputs: [
			...style.inputs,
			...chunks.flatMap(({moduleIds}) => moduleIds.map((id) => path.relative(root, id))),
		],
	};
}
