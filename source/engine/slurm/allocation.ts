/** A reservation: salloc holds the position in the queue, and the allocation outlives it. */
import {spawn, type ChildProcess} from 'node:child_process';
import {existsSync} from 'node:fs';
import process from 'node:process';
import {clusterEnvironment} from './cluster.js';
import {errorOf, missingCommand} from './refusals.js';

/** With setpriv salloc dies with this process, if available. Otherwise the request of a killed process would wait on and hold GPUs. */
const deathTool = '/usr/bin/setpriv';

/** How salloc tells which job it asks for, first while it waits, then when it has it. */
const jobPattern = /(?:Pending job allocation|Granted job allocation|job) (?<id>\d+)/v;

export type Allocation = {
	/** The job, once that is known. */
	readonly jobId: () => number | undefined;
	/** Resolves with the job that was granted; undefined where waiting was called off. Rejects with a CanhazgpuError. */
	readonly ended: Promise<number | undefined>;
	/** Calls the waiting off. */
	readonly stop: (signal: 'SIGTERM' | 'SIGKILL') => void;
};

function start(words: readonly string[], isTied: boolean): ChildProcess {
	const [command, args] = isTied ? [deathTool, ['--pdeathsig', 'TERM', 'salloc', ...words]] : ['salloc', [...words]];
	return spawn(command, args, {
		cwd: '/',
		env: {...clusterEnvironment(process.env), LC_ALL: 'C'},
		stdio: ['ignore', 'ignore', 'pipe'],
		// A Ctrl-C is meant for us, who stop it then.
		detached: true,
	});
}

/** Asks for an allocation without a command. */
export function allocate(words: readonly string[]): Allocation {
	let said = '';
	let isStopped = false;
	let child: ChildProcess | undefined;
	const jobId = (): number | undefined => {
		const id = jobPattern.exec(said)?.groups?.['id'];
		return id === undefined ? undefined : Number(id);
	};

	const ask = async (isTied: boolean): Promise<number | undefined> => {
		said = '';
		const salloc = start(['--no-shell', ...words], isTied);
		child = salloc;
		salloc.stderr?.setEncoding('utf8').on('data', (text: string) => {
			// Messages during the wait are short.
			said = (said + text).slice(-10_000);
		});
		const exitCode = await new Promise<number | undefined>((resolve, reject) => {
			salloc.once('error', (error) => {
				reject(missingCommand('salloc', error));
			});
			salloc.once('close', (code) => {
				resolve(code ?? undefined);
			});
		});
		const id = jobId();
		if (exitCode === 0 && id !== undefined) {
			return id;
		}

		if (isStopped) {
			return undefined;
		}

		if (isTied && id === undefined && /^(?:setpriv|Try 'setpriv|\S*setpriv):? /mv.test(said)) {
			// A setpriv from before 2018 does not know the option, or salloc was not found.
			return ask(false);
		}

		throw errorOf('salloc', said);
	};

	return {
		jobId,
		ended: ask(existsSync(deathTool)),
		stop(signal) {
			isStopped = true;
			child?.kill(signal);
		},
	};
}
