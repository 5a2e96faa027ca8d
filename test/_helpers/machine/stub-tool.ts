/** Creates a GPU tool from shell lines in a box, and logs every call. */
import {chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import type {Box} from '../program/cli.js';

export type StubTool = {
	/** A PATH that finds the stub first. */
	readonly searchPath: string;
	/** The arguments of each call. */
	readonly calls: () => readonly string[];
	/** Pids of the stub's processes that still exist, including zombies. */
	readonly running: () => readonly number[];
};

/** Creates the tool. `lines` are shell lines that handle `"$@"`. */
export function stubTool(box: Box, name: string, lines: string): StubTool {
	const directory = path.join(box.home, 'stubs');
	const log = path.join(directory, `${name}.calls`);
	const program = path.join(directory, name);
	mkdirSync(directory, {recursive: true});
	rmSync(log, {force: true});
	// The tool is written to another file and renamed, because a file that is open for writing cannot be run.
	writeFileSync(`${program}.new`, `#!/bin/sh\necho "$$ $*" >> '${log}'\n${lines}\n`);
	chmodSync(`${program}.new`, 0o755);
	renameSync(`${program}.new`, program);
	const noted = (): readonly string[] => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []);
	return {
		searchPath: `${directory}:${box.environment['PATH'] ?? ''}`,
		calls: () => noted().map((line) => line.slice(line.indexOf(' ') + 1)),
		running() {
			const processes = new Set(readdirSync('/proc'));
			return noted().flatMap((line) => {
				const pid = line.split(' ', 1)[0]!;
				return processes.has(pid) ? [Number(pid)] : [];
			});
		},
	};
}
