/*
Bundles the program into dist/: all that it needs but koffi is in there, with the licences of what is bundled, and the man pages.
*/
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { makeManPages } from "./man-pages.js";
import { bundlePage, pageModule } from "./page.ts";
import { noticesOf } from "./third-party-licenses.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Files that the program holds as text. */
const textExtensions = [".lua", ".bash", ".zsh", ".fish", ".md"];

const page = await bundlePage();
rmSync(path.join(root, "dist"), { recursive: true, force: true });
const { metafile } = await build({
	absWorkingDir: root,
	entryPoints: ["source/cli.ts"],
	outdir: "dist",
	bundle: true,
	// Each verb loads what it needs.
	splitting: true,
	chunkNames: "chunks/[name]-[hash]",
	platform: "node",
	format: "esm",
	target: "node22",
	plugins: [
		{
			name: "page",
			setup({ onLoad }) {
				onLoad({ filter: pageModule }, () => ({ contents: JSON.stringify(page.files), loader: "json" }));
			},
		},
	],
	loader: Object.fromEntries(textExtensions.map((extension) => [extension, "text"])),
	// Ink asks for its development tools only in development; koffi holds native code; Bun brings bun:ffi.
	external: ["react-devtools-core", "koffi", "bun:ffi"],
	alias: { "node:process": "./.config/process.cjs" },
	define: { "process.env.NODE_ENV": '"production"' },
	minifySyntax: true,
	logLevel: "warning",
	// Bundled CommonJS modules call require().
	banner: {
		js: "import {createRequire as __createRequire} from 'node:module'; const require = __createRequire(import.meta.url);",
	},
	metafile: true,
});
/*
Node forgets which signals were ignored as it was started, and raises the limit of open files. So sh is started first. For the verbs that hand
these on to a job it reads both, and the environment, of which it may drop what has no name for a shell (source/host/inherited.ts); then it
becomes Node. To JavaScript its line is a text and a comment. One string of the environment may have 128 KiB, and all words together 2 MiB.
*/
const shebang = "#!/usr/bin/env node\n";
const readStart = [
	`while read -r __chg_name __chg_signals; do case $__chg_name in SigIgn:) break;; esac; done 2>/dev/null </proc/$$/status`,
	`__chg_all="$*"`,
	`__chg_entries=$(od -A n -v -t x1 /proc/$$/environ 2>/dev/null)`,
	`[ \${#__chg_entries} -lt 120000 ] && [ \${#__chg_all} -lt 1500000 ] || __chg_entries=`,
	`CANHAZGPU_STARTED="$$ $__chg_signals $(ulimit -S -n) $__chg_entries"`,
	`export CANHAZGPU_STARTED`,
].join("; ");
const startLines = `#!/bin/sh
":" //; case "$*" in *run*|*reserve*) ${readStart};; esac; exec node "$0" "$@"
`;
const entry = path.join(root, "dist/cli.js");
const built = readFileSync(entry, "utf8");
if (!built.startsWith(shebang)) {
	throw new Error("dist/cli.js has another first line than was expected");
}

writeFileSync(entry, startLines + built.slice(shebang.length));
writeFileSync(path.join(root, "dist/third-party-licenses.txt"), noticesOf([...Object.keys(metafile.inputs), ...page.inputs], root));
await makeManPages(root, metafile.outputs);
