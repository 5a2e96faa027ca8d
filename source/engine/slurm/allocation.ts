/** Reserves GPUs: salloc holds the position in the queue, and the allocation outlives salloc. */
import {spawn, type ChildProcess} from 'node:child_process';
import {existsSync} from 'node:fs';
import process from 'node:process';
import {submitEnvironment} from './cluster.js';
import {errorOf, missingCommand} from './refusals.js';

/** The tool that makes salloc die with this process. Otherwise the request of a killed process would keep waiting and get GPUs. */
const deathTool = '/usr/bin/setpriv';

/** Matches salloc's messages with the job id, during the wait and after the grant. */
const jobPattern = /(?:Pending job allocation|Granted job allocation|job) (?<id>\d+)/v;

export type Allocation = {
	readonly jobId: () => number | undefined;
	/** Resolves with the granted job, or with undefined after a cancellation. Rejects with a CanhazgpuError. */
	readonly ended: Promise<number | undefined>;
	readonly stop: (signal: 'SIGTERM' | 'SIGKILL') => void;
};

function start(words: readonly string[], isTied: boolean): ChildProcess {
	const [command, args] = isTied ? [deathTool, ['--pdeathsig', 'TERM', 'salloc', ...words]] : ['salloc', [...words]];
	return spawn(command, args, {
		cwd: '/',
		env: {...submitEnvironment('salloc', process.env), LC_ALL: 'C'},
		stdio: ['ignore', 'ignore', 'pipe'],
		// Ctrl-C goes to this process, which then stops salloc.
		detached: true,
	});
}

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
			// The last characters are enough, because messages during the wait are short.
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
			// Tries without setpriv, which may be from before 2018 and lack the option. The error can also mean that salloc is missing.
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
