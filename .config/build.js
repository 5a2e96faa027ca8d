/*
Bundles the program into dist/: all that it needs but koffi is in there, with the licences of what is bundled, and the man pages.
*/
import {chmodSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {rolldown} from 'rolldown';
import {withMemory} from './ink-output.ts';
import {makeManPages} from './man-pages.js';
import {bundlePage, pageModule} from './page.ts';
import {noticesOf} from './third-party-licenses.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Modules of Node that our own files load when they are first called. */
const lateModules = {
	'node:child_process': path.join(root, '.config/child-process.js'),
	'node:util': path.join(root, '.config/util.js'),
};

/** Files that the program holds as text. */
const textExtensions = ['.lua', '.bash', '.zsh', '.fish', '.md'];

/** What runs before the cache of compiled code is on, and so is compiled again with each start: the less, the better. */
const beforeCache = [
	'.config/process.js',
	'source/host/inherited/inherited.ts',
	'source/app/start-up/compile-cache.ts',
	'source/app/start-up/debugger.ts',
].map((file) => fileURLToPath(new URL(`../${file}`, import.meta.url)));

/**
Writes all but ASCII as escapes. V8 keeps the source as long as it runs, and with one other character in it in twice the memory. What is left
of such characters once comments are gone stands in texts, templates and regular expressions, which all know these escapes.
*/
function asAscii(code, name) {
	if (/String\.raw`[^`]*[^\x00-\x7F]/.test(code)) {
		throw new Error(`${name}: a raw template would show an escape as it is written`);
	}

	return code.replaceAll(/[^\x00-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** What stands for the import of a module of Node. The clock is there without its module. */
const builtin = (specifier, names) =>
	specifier === 'node:perf_hooks' && names?.trim() === 'performance'
		? 'globalThis'
		: `globalThis.process.getBuiltinModule("${specifier}")`;

/** An import of a module of Node, as the bundler writes it. */
const importPattern = /^import (?:([\w$]+)(?:, | ))?(?:\{ ([^}]*) \} )?from "(node:[a-z\d\/_]+)";$/gm;

/**
Takes modules of Node from the process instead of importing them. An import reads every property of such a module, and so loads all that it
would load late: of node:fs and node:crypto some ten milliseconds of each start. The first file knows the way of a Node that is too old, which
has to come as far as to say so.
*/
function withoutImports(code, name) {
	const changed = code.replaceAll(importPattern, (statement, whole, names, specifier) =>
		specifier === 'node:module'
			? statement
			: [
					...(whole === undefined ? [] : [`const ${whole} = ${builtin(specifier)};`]),
					...(names === undefined
						? []
						: [`const { ${names.replaceAll(' as ', ': ')} } = ${builtin(specifier, names)};`]),
				].join(' '),
	);
	return name.includes('start-')
		? `import nodeModule from "node:module";\nglobalThis.process.getBuiltinModule ??= nodeModule.createRequire(import.meta.url);\n${changed}`
		: changed;
}

/** A chunk that only hands on what is in another, as the bundler writes it. */
const facadePattern = /^export \{ ([^}]*) \} from "\.\/([^"]+)";\s*$/;

/**
By the name of each such chunk: the one that has it all, and the names there and here. Each file that is read costs 0.3 ms of a start.
*/
const facadesIn = (chunks) =>
	new Map(
		chunks.flatMap(({fileName, code}) => {
			const [, names, target] = facadePattern.exec(code) ?? [];
			return names === undefined ? [] : [[path.basename(fileName), {target, names: namesIn(names)}]];
		}),
	);

/** What stands between the braces of an export: the name here, and the one by which others know it. */
const namesIn = (text) =>
	text.split(', ').map((name) => {
		const [own, told = own] = name.split(' as ');
		return {own, told};
	});

/** Imports what such chunks hand on from where it is. A chunk gets its own by a function, for Bun's bundler knows no import of a chunk by itself. */
function withoutFacades(code, fileName, facades) {
	const [, exported = ''] = /^export \{ ([^}]*) \};$/m.exec(code) ?? [];
	const locals = new Map(namesIn(exported).map(({own, told}) => [told, own]));
	const functions = new Map();
	const changed = code.replaceAll(/\bimport\("(\.\/(?:chunks\/)?)([^"\/]+)"\)/g, (statement, directory, name) => {
		const facade = facades.get(name);
		if (facade === undefined) {
			return statement;
		}

		if (facade.target !== path.basename(fileName)) {
			const pairs = facade.names.map(({own, told}) => `${told}: all.${own}`);
			return `import("${directory}${facade.target}").then((all) => ({ ${pairs.join(', ')} }))`;
		}

		const called = `own$${name.replaceAll(/\W/g, '_')}`;
		const pairs = facade.names.map(({own, told}) => `${told}: ${locals.get(own)}`);
		functions.set(called, `async function ${called}() {\n\treturn { ${pairs.join(', ')} };\n}`);
		return `${called}()`;
	});
	return [changed, ...functions.values()].join('\n');
}

/** What `run` loads on an engine that starts the command itself, and so shows how long it takes to start. Most of it is what each verb loads. */
const startRoots = [
	'main.ts',
	'command-line/find-command.ts',
	'command-line/usage-errors.ts',
	'config/config.ts',
	'app/app.ts',
	'commands/run.ts',
	'commands/shared/run-on-engine.ts',
	'engine/slurm/index.ts',
	'host/job/job.ts',
	'host/process/open-files.ts',
].map((file) => path.join(root, 'source', file));

/** These, and what they load in their turn. */
const loadedAtStart = new Set();

const page = await bundlePage();
rmSync(path.join(root, 'dist'), {recursive: true, force: true});
const bundle = await rolldown({
	cwd: root,
	input: {cli: 'source/cli.ts'},
	platform: 'node',
	// Ink asks for its development tools only in development; koffi holds native code; Bun brings bun:ffi.
	external: ['react-devtools-core', 'koffi', 'bun:ffi'],
	resolve: {
		alias: {
			'node:process': path.join(root, '.config/process.js'),
			'node:tty': path.join(root, '.config/tty.js'),
		},
	},
	moduleTypes: Object.fromEntries(textExtensions.map((extension) => [extension, 'text'])),
	transform: {target: 'node22', define: {'process.env.NODE_ENV': '"production"'}},
	// Much that is imported late is in the common file for others' sake.
	checks: {ineffectiveDynamicImport: false},
	plugins: [
		{
			name: 'late-modules',
			// Packages take what they like of them; what they are imported for is loaded late anyway.
			resolveId: (id, importer) =>
				importer?.startsWith(path.join(root, 'source')) ? lateModules[id] : undefined,
		},
		{
			name: 'start',
			buildEnd() {
				const waiting = [...startRoots];
				for (const id of waiting) {
					if (!loadedAtStart.has(id)) {
						loadedAtStart.add(id);
						waiting.push(...(this.getModuleInfo(id)?.importedIds ?? []));
					}
				}
			},
		},
		{
			name: 'page',
			load: (id) => (pageModule.test(id) ? {code: JSON.stringify(page.files), moduleType: 'json'} : undefined),
		},
		{
			name: 'ink-output',
			transform: {filter: {id: /\/ink\/build\//}, handler: (code, id) => ({code: withMemory(code, id)})},
		},
	],
});
const {output} = await bundle.write({
	dir: 'dist',
	format: 'esm',
	// Each verb loads what it needs.
	entryFileNames: 'cli.js',
	chunkFileNames: 'chunks/[name]-[hash].js',
	// A stack trace of a bug names functions and lines: names and line breaks stay.
	minify: {compress: true, mangle: false, codegen: false},
	comments: false,
	codeSplitting: {
		groups: [
			{name: 'start', test: (id) => beforeCache.includes(id), priority: 1},
			// Each file costs 0.3 ms of every start, and so do 15 KB in it: what every start needs is in one, and nothing else.
			{name: 'common', test: (id) => loadedAtStart.has(id) && !id.includes('/source/engine/'), priority: 0.5},
			// What three late imports share is in another.
			{name: 'shared', minShareCount: 3},
		],
	},
});
await bundle.close();
const chunks = output.filter(({type}) => type === 'chunk');
const facades = facadesIn(chunks);
for (const {fileName, code} of chunks) {
	writeFileSync(
		path.join(root, 'dist', fileName),
		asAscii(withoutImports(withoutFacades(code, fileName, facades), fileName), fileName),
	);
}

const inputs = output
	.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
	.map((id) => path.relative(root, id));
const moved = beforeCache.find((file) => !inputs.includes(path.relative(root, file)));
if (moved !== undefined) {
	throw new Error(`${moved} was moved: name it in .config/build.js again`);
}

/*
Node forgets which signals were ignored as it was started, raises the limit of open files, and keeps open files from its children. So sh is started
first. For the verbs that hand these on to a job it reads all of it, but for its own script, and the environment, of which it may drop what has no
name for a shell (source/host/inherited/inherited.ts); then it becomes Node. To JavaScript its line is a text and a comment. One string of the environment may have 128 KiB, and all words together 2 MiB.

The monitor makes some MiB of garbage with each frame. With less room for it a third of the monitor's processor time goes into collecting, and
V8 takes the size of that room only at its start.
*/
const shebang = '#!/usr/bin/env node\n';
const readStart = [
	`while read -r __chg_name __chg_signals; do case $__chg_name in SigIgn:) break;; esac; done 2>/dev/null </proc/$$/status`,
	`__chg_all="$*" __chg_files=`,
	`__chg_entries=$(od -A n -v -t x1 /proc/$$/environ 2>/dev/null)`,
	`[ \${#__chg_entries} -lt 120000 ] && [ \${#__chg_all} -lt 1500000 ] || __chg_entries=`,
	`for __chg_file in /proc/$$/fd/*; do [ -e "$__chg_file" ] && ! [ "$__chg_file" -ef "$0" ] && __chg_files="$__chg_files,\${__chg_file##*/}"; done`,
	`CANHAZGPU_STARTED="$$ $__chg_signals $(ulimit -S -n) \${__chg_files#,} $__chg_entries"`,
	`export CANHAZGPU_STARTED`,
].join('; ');
const startLines = `#!/bin/sh
":" //; case "$*" in *run*|*reserve*) ${readStart};; esac; case "$1" in top) exec node --min-semi-space-size=4 "$0" "$@";; esac; exec node "$0" "$@"
`;
const entry = path.join(root, 'dist/cli.js');
const built = readFileSync(entry, 'utf8');
if (!built.startsWith(shebang)) {
	throw new Error('dist/cli.js has another first line than was expected');
}

writeFileSync(entry, startLines + built.slice(shebang.length));
chmodSync(entry, 0o755);
writeFileSync(path.join(root, 'dist/third-party-licenses.txt'), noticesOf([...inputs, ...page.inputs], root));
await makeManPages(root, output);

for (const name of facades.keys()) {
	rmSync(path.join(root, 'dist/chunks', name));
}
