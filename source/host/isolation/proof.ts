/** What shows that an isolation holds: a shell inside of it tries to open devices, and says which of them opened. */
import type {IsolationProblem} from '../../core/model/isolation.js';

/** Devices of GPUs, as a job would open them. */
export type ProofNodes = {
	/** None of these may open. */
	readonly foreign: readonly string[];
	/** This one must. */
	readonly granted: string;
};

/** Behind the numbers of those that opened: a shell that broke off has proved nothing. */
const lastWord = 'end';

/** Words that try all devices and say by number which open. `command` keeps a refusal from ending the shell. */
export const proofWords = ({foreign, granted}: ProofNodes, afterwards = ''): readonly [string, ...string[]] => [
	'/bin/sh',
	'-c',
	`i=0; for node do if { command : <"$node"; } 2>/dev/null; then echo "$i"; fi; i=$((i + 1)); done; echo ${lastWord}${afterwards}`,
	'sh',
	...foreign,
	granted,
];

/** The lines of a proof that are there already, up to the last word; undefined while that is missing. */
export function proofLines(output: string): readonly string[] | undefined {
	const lines = output.split('\n');
	const end = lines.slice(0, -1).indexOf(lastWord);
	return end === -1 ? undefined : lines.slice(0, end);
}

/** What the lines of a proof say. Undefined: the isolation holds. */
export function leakIn(lines: readonly string[], {foreign, granted}: ProofNodes): IsolationProblem | undefined {
	const opened = new Set(lines.map(Number));
	const leak = foreign.find((_, index) => opened.has(index));
	if (leak !== undefined) {
		return {kind: 'foreign-opens', device: leak};
	}

	return opened.has(foreign.length) ? undefined : {kind: 'granted-refuses', device: granted};
}
