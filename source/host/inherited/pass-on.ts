/** Passes on to another process of this program what this process was started with, although a shell starts that process. */
import {Buffer} from 'node:buffer';
import {encodeBytes, exactEnvironment, type Environment} from './exact-text.js';
import {callersOpenFiles, startedVariable} from './inherited.js';

/** In hexadecimal digits. Linux allows 128 KiB in one variable. */
const longestEnvironment = 120_000;

/** A script that executes its arguments as a process that restores what `passedOn` recorded. */
export const restoringScript = `${startedVariable}="$$ $${startedVariable}"; exec "$@"`;

/**
Returns the environment for a shell that executes `restoringScript`. The process then has exactly this environment, with bytes that are not UTF-8 and
functions of bash, which a shell would drop, and starts its job with our caller's limit of open files. An environment above 60 KB is not restored.
*/
export function passedOn(given: Environment): Environment {
	const environment = exactEnvironment(given);
	const bytes = Buffer.concat(
		Object.entries(environment).flatMap(([name, value]) =>
			value === undefined ? [] : [encodeBytes(name), Buffer.from('='), encodeBytes(value), Buffer.of(0)],
		),
	).toString('hex');
	const noSignals = '0';
	// A limit above the hard limit is ignored, so `unlimited` stands for an unknown limit.
	const openFiles = callersOpenFiles() ?? 'unlimited';
	const descriptors = '0,1,2';
	const recorded = bytes.length > longestEnvironment ? '' : bytes;
	// Inherited.ts describes the format. The shell puts its pid in front.
	return {...given, [startedVariable]: `${noSignals} ${openFiles} ${descriptors} ${recorded}`};
}
