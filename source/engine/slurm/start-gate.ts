/**
Holds srun back between the grant and the start of the command, so that what was granted is said first, and of a command that ends at once, too.
Srun runs a prolog here, which says the job and waits.
*/
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {Clock} from '../../core/model/ports.js';

/** The prolog gives up after 10 seconds, and where the program that would open the gate has ended. */
const prolog = `#!/bin/sh
directory=\${0%/*}
echo "$SLURM_JOB_ID" >"$directory/new" && mv "$directory/new" "$directory/job"
turns=0
while [ -e "$directory/job" ] && [ $turns -lt 100 ]; do
	turns=$((turns + 1))
	sleep 0.1
done
`;

const firstPauseMs = 20;
const longestPauseMs = 250;

type StartGate = {
	/** What srun is given as its prolog. */
	readonly program: string;
	/** The job, as soon as it has its GPUs. Undefined: the signal came before. */
	readonly jobId: (signal: AbortSignal) => Promise<number | undefined>;
	/** The command begins. */
	readonly open: () => void;
};

/** A directory with the prolog. Undefined where there is no room for it. */
function placeProlog(): string | undefined {
	try {
		const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-start-'));
		writeFileSync(path.join(directory, 'prolog'), prolog, {mode: 0o700});
		return directory;
	} catch {
		return undefined;
	}
}

/** Undefined where there is no room for one: then the command begins at once. */
export function createStartGate(clock: Clock): StartGate | undefined {
	const directory = placeProlog();
	if (directory === undefined) {
		return undefined;
	}

	const readJob = (): number | undefined => {
		try {
			const id = Number(readFileSync(path.join(directory, 'job'), 'utf8'));
			return id > 0 ? id : undefined;
		} catch {
			return undefined;
		}
	};

	return {
		program: path.join(directory, 'prolog'),
		async jobId(signal) {
			let pauseMs = firstPauseMs;
			while (!signal.aborted) {
				const id = readJob();
				if (id !== undefined) {
					return id;
				}

				await clock.sleep(pauseMs, signal).catch(() => undefined);
				pauseMs = Math.min(longestPauseMs, pauseMs * 2);
			}

			return undefined;
		},
		open() {
			rmSync(directory, {recursive: true, force: true});
		},
	};
}
