/** Starts nvidia-smi before anything else is loaded or connected. Every module that this file imports delays the scan. */
import {existsSync} from 'node:fs';
import path from 'node:path';
import {performance} from 'node:perf_hooks';
import process from 'node:process';
import {startEarly, type EarlyRuns} from '../../gpu/tool/early-tool.js';
import {firstQueries} from '../../gpu/nvidia/fields.js';
import {runTool} from '../../host/tool/spawn.js';

/** Commands that scan the GPUs of this machine. `top` is not included, because all monitors share one scan. */
const scanningCommands = new Set(['status', 'run', 'reserve']);

/** Arguments with which these commands usually do not scan. If a scan turns out to be unnecessary, it is stopped. */
const otherwise = new Set(['--help', '--version', '--demo', '--remote', '-r']);

const isOfCluster = (words: readonly string[], engine: string | undefined): boolean =>
	engine === 'slurm' ||
	words.some((word, index) => word === '--engine=slurm' || (word === '--engine' && words[index + 1] === 'slurm'));

/** Whether a command line probably needs a GPU scan. `engine` is the engine that the environment variable names. */
export const mayScan = ([command = '', ...words]: readonly string[], engine: string | undefined): boolean => {
	const separator = words.indexOf('--');
	const own = separator === -1 ? words : words.slice(0, separator);
	return (
		scanningCommands.has(command) &&
		own.every((word) => !otherwise.has(word.split('=', 1)[0]!)) &&
		!isOfCluster(own, engine)
	);
};

export const isInstalled = (command: string): boolean =>
	(process.env['PATH'] ?? '')
		.split(path.delimiter)
		.some((directory) => path.isAbsolute(directory) && existsSync(path.join(directory, command)));

export const startTools = (): EarlyRuns | undefined =>
	isInstalled('nvidia-smi') ? startEarly(runTool, firstQueries('nvidia-smi'), () => performance.now()) : undefined;

export type {EarlyRuns} from '../../gpu/tool/early-tool.js';
