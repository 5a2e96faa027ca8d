/** Runs _driver.ts in another process, with a command that reports which device nodes can be opened. */
import {chmodSync, copyFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {createInterface} from 'node:readline';
import type {Readable, Writable} from 'node:stream';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';
import type {StandIn} from '../../_helpers/machine/stand-in-devices.js';
import type {DriverAnswer, DriverRequest} from './_driver.js';

/** Copies the driver and Node.js into a directory that every account can read. */
export async function buildDriver(directory: string): Promise<void> {
	chmodSync(directory, 0o755);
	copyFileSync(process.execPath, path.join(directory, 'node'));
	chmodSync(path.join(directory, 'node'), 0o755);
	await build({
		entryPoints: [fileURLToPath(new URL('_driver.ts', import.meta.url))],
		bundle: true,
		platform: 'node',
		format: 'esm',
		outfile: path.join(directory, 'driver.mjs'),
	});
}

/** Returns the command that starts the driver from that copy. */
export const driverIn = (directory: string): readonly [string, string] => [
	path.join(directory, 'node'),
	path.join(directory, 'driver.mjs'),
];

/** A shell line that prints the command line of its parent process, one argument per line. `ps` differs between systems. */
export const tellParent = String.raw`tr '\0' '\n' </proc/$PPID/cmdline`;

/** Runs one driver, and returns its answers in the order of the requests. */
export async function answersOf(
	driver: {readonly stdin: Writable; readonly stdout: Readable},
	requests: readonly DriverRequest[],
): Promise<readonly DriverAnswer[]> {
	driver.stdin.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
	const answers: DriverAnswer[] = [];
	for await (const line of createInterface(driver.stdout)) {
		answers.push(JSON.parse(line) as DriverAnswer);
	}

	return answers;
}

/** A shell script that prints each node that can be opened. Skips missing nodes. */
export const openScript = 'for node do if { command : <"$node"; } 2>/dev/null; then echo "$node"; fi; done';

/** Returns a command that tries to open all GPU nodes and the shared nodes. */
export const tryAll = ({root, gpus, common}: StandIn): readonly string[] => [
	'sh',
	'-c',
	openScript,
	'sh',
	...[...gpus.flatMap(({nodes}) => nodes), ...common].map((node) => path.join(root, node)),
];

/** Returns the nodes that could be opened, relative to their root directory. */
export const openedIn = ({root}: StandIn, {output = ''}: DriverAnswer): readonly string[] =>
	output
		.split('\n')
		.filter(Boolean)
		.map((file) => path.relative(root, file))
		.toSorted();
