/*
Bundles the page of the dashboard: index.html names its script and its style as they are in the source; what is served has their hashes in
their names. The build and the tests put the result in the place of the module `source/web/page/index.html`.
*/
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
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

export async function bundlePage(): Promise<BundledPage> {
	const {outputFiles, metafile} = await build({
		absWorkingDir: root,
		entryPoints: [`${folder}/main.tsx`, `${folder}/styles/page.css`],
		entryNames: 'page-[hash]',
		// What is imported when it is needed has a file of its own.
		splitting: true,
		chunkNames: '[name]-[hash]',
		outdir: 'page',
		write: false,
		bundle: true,
		format: 'esm',
		target: 'esnext',
		minify: true,
		banner: {js: '/* Contains packages under the MIT licence: see third-party-licenses.txt of canhazgpu */'},
		metafile: true,
		logLevel: 'warning',
	});
	let html = read('index.html');
	const bundled = outputFiles.map((file) => {
		const name = path.relative(root, file.path);
		const {entryPoint} = metafile.outputs[name]!;
		if (entryPoint === undefined) {
			throw new Error(`${name} is shared by the page and what it loads later: the page would have to load one more file`);
		}

		html = html.replace(`"${path.relative(folder, entryPoint)}"`, `"/${name}"`);
		return {path: `/${name}`, type: types[path.extname(name)]!, text: file.text, isImmutable: true};
	});
	return {
		files: [
			{path: '/', type: 'text/html; charset=utf-8', text: html, isImmutable: false},
			...['icon.svg', 'icon-taken.svg', 'icon-stale.svg'].map((name) => ({
				path: `/${name}`,
				type: 'image/svg+xml',
				text: read(name),
				isImmutable: false,
			})),
			...bundled,
		],
		inputs: Object.keys(metafile.inputs),
	};
}
