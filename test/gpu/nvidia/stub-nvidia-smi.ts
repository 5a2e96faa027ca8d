import {chmod, mkdtemp, readFile, rename, writeFile} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** How the stub answers one kind of query. */
export type Answer = {
	readonly stdout?: string;
	readonly stderr?: string;
	readonly exitCode?: number;
	/** Shell lines that run before the output. */
	readonly before?: string;
};

export type Stub = {
	readonly directory: string;
	readonly command: string;
	/** The arguments of every call, one line per call. */
	readonly calls: () => Promise<readonly string[]>;
	readonly answer: (answers: {readonly gpus?: Answer; readonly processes?: Answer}) => Promise<void>;
};

/** Creates a program named nvidia-smi in its own directory, with fixed output for the two queries. */
export const createStub = async (answers: {readonly gpus?: Answer; readonly processes?: Answer}): Promise<Stub> => {
	const directory = await mkdtemp(path.join(os.tmpdir(), 'nvidia-smi-'));
	const command = path.join(directory, 'nvidia-smi');
	const log = path.join(directory, 'calls');

	const prepare = async (name: string, {stdout = '', stderr = '', exitCode = 0, before = ''}: Answer = {}) => {
		await writeFile(path.join(directory, `${name}.out`), stdout);
		await writeFile(path.join(directory, `${name}.err`), stderr);
		return `${before}\ncat '${directory}/${name}.out'; cat '${directory}/${name}.err' >&2; exit ${exitCode}`;
	};

	const answer: Stub['answer'] = async ({gpus, processes}) => {
		const script = [
			'#!/bin/sh',
			`echo "$*" >> '${log}'`,
			'case "$1" in',
			`--query-gpu=*)\n${await prepare('gpus', gpus)};;`,
			`--query-compute-apps=*)\n${await prepare('processes', processes)};;`,
			'esac',
			'exit 2',
		];
		// The stub is written to another file and renamed, because a file that is open for writing cannot be run.
		await writeFile(`${command}.new`, script.join('\n'));
		await chmod(`${command}.new`, 0o755);
		await rename(`${command}.new`, command);
	};

	await writeFile(log, '');
	await answer(answers);
	return {
		directory,
		command,
		answer,
		async calls() {
			const text = await readFile(log, 'utf8');
			return text.split('\n').slice(0, -1);
		},
	};
};
