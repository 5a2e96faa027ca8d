/** A program of a GPU driver in a box, made of shell lines; every call is noted. */
import {chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import type {Box} from '../program/cli.js';

export type StubTool = {
	/** For the environment: the stub is found first. */
	readonly searchPath: string;
	/** The arguments of each call so far. */
	readonly calls: () => readonly string[];
	/** Pids of processes of the stub that are still there, zombies among them. */
	readonly running: () => readonly number[];
};

/** @param lines - What the tool does with `"$@"`. */
export function stubTool(box: Box, name: string, lines: string): StubTool {
	const directory = path.join(box.home, 'stubs');
	const log = path.join(directory, `${name}.calls`);
	const program = path.join(directory, name);
	mkdirSync(directory, {recursive: true});
	rmSync(log, {force: true});
	// Written apart and put in its place: a file that is open for writing cannot be run.
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
