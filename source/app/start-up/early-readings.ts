/**
Begins to scan NVIDIA GPUs before anything else is loaded or connected: the tool is the slowest part of most verbs, and nearly every
pool on a box that has it is its own. Whatever this file imports delays that, so it imports little.
*/
import {existsSync} from 'node:fs';
import path from 'node:path';
import {performance} from 'node:perf_hooks';
import process from 'node:process';
import {startEarly, type EarlyRuns} from '../../gpu/tool/early-tool.js';
import {firstQueries} from '../../gpu/nvidia/fields.js';
import {runTool} from '../../host/tool/spawn.js';

/** Verbs that scan the GPUs of this machine, ... Not `top`: of many monitors one scans, for all. */
const scanningVerbs = new Set(['status', 'run', 'reserve']);

/** ... unless one of these is among their words. Only a hint: a scan that is not wanted is ended. */
const otherwise = new Set(['--help', '--version', '--demo', '--remote', '-r']);

/** The GPUs of a cluster are on its nodes. */
const isOfCluster = (words: readonly string[], engine: string | undefined): boolean =>
	engine === 'slurm' ||
	words.some((word, index) => word === '--engine=slurm' || (word === '--engine' && words[index + 1] === 'slurm'));

/**
Whether the words of a command line are likely to need a scan of the GPUs.

@param argv
@param engine - That of the environment.
*/
export const mayScan = ([verb = '', ...words]: readonly string[], engine: string | undefined): boolean => {
	const separator = words.indexOf('--');
	const own = separator === -1 ? words : words.slice(0, separator);
	return (
		scanningVerbs.has(verb) && own.every((word) => !otherwise.has(word.split('=', 1)[0]!)) && !isOfCluster(own, engine)
	);
};

export const isInstalled = (command: string): boolean =>
	(process.env['PATH'] ?? '')
		.split(path.delimiter)
		.some((directory) => path.isAbsolute(directory) && existsSync(path.join(directory, command)));

/** Undefined where nvidia-smi is not installed. */
export const startTools = (): EarlyRuns | undefined =>
	isInstalled('nvidia-smi') ? startEarly(runTool, firstQueries('nvidia-smi'), () => performance.now()) : undefined;

export type {EarlyRuns} from '../../gpu/tool/early-tool.js';
