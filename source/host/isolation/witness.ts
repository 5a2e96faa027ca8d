/** Proves that an isolation works: a shell inside reports which devices it can open, then keeps the isolation alive until asked to end. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {text} from 'node:stream/consumers';
import type {IsolationProblem} from '../../core/model/isolation.js';

export type ProofNodes = {
	readonly foreign: readonly string[];
	readonly granted: string;
};

/** The last word of the output. Without this word, the shell stopped early, and nothing is proved. */
const lastWord = 'end';

/** Returns a command that prints the positions of the devices that it can open. `command` keeps the shell running if opening fails. */
export const proofWords = ({foreign, granted}: ProofNodes, afterwards = ''): readonly [string, ...string[]] => [
	'/bin/sh',
	'-c',
	`i=0; for node do if { command : <"$node"; } 2>/dev/null; then echo "$i"; fi; i=$((i + 1)); done; echo ${lastWord}${afterwards}`,
	'sh',
	...foreign,
	granted,
];

export function proofLines(output: string): readonly string[] | undefined {
	const lines = output.split('\n');
	const end = lines.slice(0, -1).indexOf(lastWord);
	return end === -1 ? undefined : lines.slice(0, end);
}

/** Returns the problem that the printed positions show, or undefined if the isolation holds. */
export function leakIn(lines: readonly string[], {foreign, granted}: ProofNodes): IsolationProblem | undefined {
	const opened = new Set(lines.map(Number));
	const leak = foreign.find((_, index) => opened.has(index));
	if (leak !== undefined) {
		return {kind: 'foreign-opens', device: leak};
	}

	return opened.has(foreign.length) ? undefined : {kind: 'granted-refuses', device: granted};
}

/** The minimal environment for the programs that isolate, so that no variable of the user affects them. */
export const plainEnvironment = {LC_ALL: 'C', PATH: '/usr/bin:/bin:/usr/sbin:/sbin'};

/** Time limit for opening the devices. This takes milliseconds, unless a driver first has to wake an idle GPU, which can take seconds. */
const patienceSeconds = 60;

export type Witness = {
	readonly kind: 'witness';
	readonly pid: number;
	/** Ends the witness, which otherwise ends with this process. Resolves when it has ended. Never rejects. */
	readonly end: () => Promise<void>;
};

type WitnessOptions = {
	readonly words: readonly [string, ...string[]];
	readonly program: string;
	readonly proof: ProofNodes;
};

/** Starts a witness. Returns a problem if a foreign device can be opened inside, or if the granted device cannot. */
export const startWitness = async (options: WitnessOptions): Promise<Witness | IsolationProblem> => {
	const first = await tryToStart(options);
	// Ctrl-C can end the witness before it has its own session. This says nothing about the isolation, so the witness is started again.
	const started = first === 'ended by a signal' ? await tryToStart(options) : first;
	return started === 'ended by a signal' ? {kind: 'refused', program: options.program, words: started} : started;
};

const tryToStart = async ({
	words: starter,
	program,
	proof,
}: WitnessOptions): Promise<Witness | IsolationProblem | 'ended by a signal'> => {
	const [command, ...words] = starter;
	const child = spawn(
		command,
		[...words, ...proofWords(proof, '; echo $$; read -r end')],
		// In a session of its own, the witness gets no signals from the terminal's keys.
		{env: plainEnvironment, stdio: ['pipe', 'pipe', 'pipe'], detached: true},
	);
	const failed = new Promise<string>((resolve) => {
		child.once('error', (error) => {
			resolve(error.message);
		});
	});
	child.stdin.on('error', () => undefined);
	if (child.pid === undefined) {
		return {kind: 'refused', program, words: await failed};
	}

	const ended = once(child, 'exit');
	const limit = AbortSignal.timeout(patienceSeconds * 1000);
	const kill = (): void => {
		child.kill('SIGKILL');
	};

	limit.addEventListener('abort', kill);
	const said = text(child.stderr);
	said.catch(() => undefined);
	const end = async (): Promise<void> => {
		child.ref();
		child.stdin.end();
		child.stdout.destroy();
		kill();
		await ended;
	};

	const {lines, pid} = await provedBy(child.stdout);
	limit.removeEventListener('abort', kill);
	if (pid === 0) {
		child.stdin.end();
		await ended;
		return limit.aborted
			? {kind: 'slow', program, seconds: patienceSeconds}
			: child.signalCode === null
				? {kind: 'refused', program, words: await said}
				: 'ended by a signal';
	}

	const leak = leakIn(lines, proof);
	if (leak !== undefined) {
		await end();
		return leak;
	}

	child.unref();
	for (const stream of [child.stdin, child.stdout, child.stderr]) {
		(stream as unknown as {unref?: () => void}).unref?.();
	}

	return {kind: 'witness', pid, end};
};

/** Returns the printed positions and the pid of the witness. The pid is 0 if the witness ended early. */
const provedBy = async (
	stream: NodeJS.ReadableStream,
): Promise<{readonly lines: readonly string[]; readonly pid: number}> =>
	new Promise((resolve) => {
		let output = '';
		stream.setEncoding('utf8');
		const nothing = () => {
			resolve({lines: [], pid: 0});
		};

		stream.once('end', nothing);
		stream.once('close', nothing);
		stream.once('error', nothing);
		stream.on('data', (part: string) => {
			output += part;
			const lines = proofLines(output);
			const pid =
				lines &&
				/^\d+\n/v.exec(
					output
						.split('\n')
						.slice(lines.length + 1)
						.join('\n'),
				);
			if (lines && pid) {
				resolve({lines, pid: Number(pid[0])});
			}
		});
	});
