import path from 'node:path';
import type {IsolationProblem} from '../../core/model/isolation.js';
import {runTool} from '../tool/spawn.js';
import {plainEnvironment} from './bubblewrap.js';

/** Says by number which of its arguments open. `command` keeps a refusal from ending the shell. */
const script =
	'i=0; for node do if { command : <"$node"; } 2>/dev/null; then echo "$i"; fi; i=$((i + 1)); done; echo end';

/** A driver may take seconds to wake a GPU that nothing uses. */
const patienceSeconds = 60;

type Nodes = {
	/** None of these may open. */
	readonly foreign: readonly string[];
	/** This one must. */
	readonly granted: string;
};

/**
Tries inside of an isolation what it promises, with the very words that start the job. Undefined: it holds.

@param entrance - Words that start a command inside.
*/
export const findLeak = async (
	entrance: readonly string[],
	{foreign, granted}: Nodes,
): Promise<IsolationProblem | undefined> => {
	const [program, ...words] = [...entrance, '/bin/sh', '-c', script, 'sh', ...foreign, granted];
	const {stdout, stderr, failure, detail} = await runTool(program, words, {
		timeoutMs: patienceSeconds * 1000,
		environment: plainEnvironment,
	});
	if (failure === 'timed-out') {
		return {kind: 'slow', program: path.basename(program), seconds: patienceSeconds};
	}

	const lines = stdout.split('\n');
	if (failure !== undefined || lines.at(-2) !== 'end') {
		return {kind: 'refused', program: path.basename(program), words: detail ?? stderr};
	}

	const opened = new Set(lines.slice(0, -2).map(Number));
	const leak = foreign.find((_, place) => opened.has(place));
	if (leak !== undefined) {
		return {kind: 'foreign-opens', device: leak};
	}

	return opened.has(foreign.length) ? undefined : {kind: 'granted-refuses', device: granted};
};
