/** Other processes that use the SQLite store, some of them under other accounts. */
import {spawn, type ChildProcess} from 'node:child_process';
import {chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const source = fileURLToPath(new URL('../../../source/store/sqlite/index.ts', import.meta.url));

export type Workshop = {
	/** A directory that everybody can enter. */
	readonly directory: string;
	/** Starts a script. It can use `openSqliteStore`, `embeddedPoolExists`, `plan` and `file`, and prints a line of JSON with `say`. */
	readonly start: (script: string, options?: ChildOptions) => ChildProcess;
	/** Runs a script until it exits, and returns what it printed and its stderr. */
	readonly run: (script: string, options?: ChildOptions) => Promise<{said: unknown[]; stderr: string}>;
	readonly remove: () => void;
};

type ChildOptions = {
	/** Passed to the script as `file`. */
	readonly file?: string;
	readonly umask?: number;
	/** Runs the script as another account if the tests run as root. */
	readonly isStranger?: boolean;
	/** The largest file that the script may write, in KiB. */
	readonly largestFileKiB?: number;
	/** Runs the script in its own process group, as a child of a shell. Without a shell the kernel may ignore a terminal's stop signals. */
	readonly isJob?: boolean;
};

const nobody = 65_534;

/** Bundles the store into a file that plain Node.js can run. */
export async function makeWorkshop(): Promise<Workshop> {
	const directory = mkdtempSync(path.join(tmpdir(), 'chg-child-'));
	chmodSync(directory, 0o755);
	await build({
		entryPoints: [source],
		bundle: true,
		platform: 'node',
		format: 'esm',
		outfile: `${directory}/store.mjs`,
	});
	// Another account may not be allowed to enter the directories of this checkout.
	copyFileSync(process.execPath, `${directory}/node`);
	chmodSync(`${directory}/node`, 0o755);
	chmodSync(`${directory}/store.mjs`, 0o644);
	let count = 0;

	const start: Workshop['start'] = (
		script,
		{file = '', umask = 0o022, isStranger = false, largestFileKiB, isJob = false} = {},
	) => {
		const main = `${directory}/script-${count++}.mjs`;
		writeFileSync(
			main,
			String.raw`import {openSqliteStore, embeddedPoolExists} from './store.mjs';
			process.umask(${umask});
			const file = ${JSON.stringify(file)};
			const say = (value) => process.stdout.write(JSON.stringify(value) + '\n');
			const plan = (part) => ({expect: [], writes: [], usage: [], audit: [], event: undefined, grants: false, ...part});
			const lease = (index, note) => ({kind: 'lease', index, lease: {user: 'a', type: 'run', startTime: 1, note}});
			const pool = (gpuCount) => ({kind: 'pool', pool: {gpuCount, provider: 'fake'}});
			try {
				${script}
			} catch (error) {
				say({name: error.name, code: error.code, message: error.message, hint: error.hint});
			}`,
			{mode: 0o644},
		);
		const limit = largestFileKiB === undefined ? '' : `ulimit -f ${largestFileKiB}; `;
		const account = isStranger && process.getuid?.() === 0 ? {uid: nobody, gid: nobody} : {};
		const command = `${directory}/node ${main}`;
		return spawn(
			'/bin/bash',
			['-c', isJob ? `set -m; ${command} & while kill -0 $!; do sleep 0.1; done` : `${limit}exec ${command}`],
			{
				...account,
				cwd: directory,
				env: {},
				stdio: ['ignore', 'pipe', 'pipe'],
			},
		);
	};

	return {
		directory,
		start,
		async run(script, options) {
			const child = start(script, options);
			const [output, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
			const said = output
				.split('\n')
				.filter((line) => line !== '')
				.map((line) => JSON.parse(line) as unknown);
			return {said, stderr};
		},
		remove() {
			mkdirSync(directory, {recursive: true});
			rmSync(directory, {recursive: true});
		},
	};
}
