/** Finds out the job id of an srun, and delays the command until the grant is reported. For this, srun runs a local prolog script that can wait. */
import {accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {Clock} from '../../core/model/ports.js';

/** Returns a script that stores the job id, waits for the gate to open, and then runs the user's own prolog. Waits for at most 10 seconds. */
const prologOf = (isHeld: boolean): string => `#!/bin/sh
directory=\${0%/*}
echo "$SLURM_JOB_ID" >"$directory/new" && mv "$directory/new" "$directory/job"
turns=${isHeld ? 0 : 100}
while [ -e "$directory/job" ] && [ $turns -lt 100 ]; do
	turns=$((turns + 1))
	sleep 0.1
done
other=\${SLURM_PROLOG:-$(scontrol show config | sed -n 's/^SrunProlog *= //p')}
[ ! -f "$other" ] || exec "$other" "$@"
`;

const firstPauseMs = 20;
const longestPauseMs = 250;

type StartGate = {
	readonly program: string;
	/** Resolves with the job's id once the job has its GPUs. Undefined if the job had no GPUs when the signal was aborted. */
	readonly jobId: (signal: AbortSignal) => Promise<number | undefined>;
	readonly open: () => void;
};

/** Creates a directory with the prolog. Undefined if there is no space, or if programs in the directory cannot be executed. */
function placeProlog(isHeld: boolean): string | undefined {
	let directory: string | undefined;
	try {
		directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-start-'));
		const file = path.join(directory, 'prolog');
		writeFileSync(file, prologOf(isHeld), {mode: 0o700});
		accessSync(file, constants.X_OK);
		return directory;
	} catch {
		if (directory !== undefined) {
			rmSync(directory, {recursive: true, force: true});
		}

		return undefined;
	}
}

/** Creates a gate. With `isHeld`, the command waits until the gate is opened. Undefined if no gate is possible. Without a gate, no command waits. */
export function createStartGate(clock: Clock, isHeld: boolean): StartGate | undefined {
	const directory = placeProlog(isHeld);
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
			for (;;) {
				const isLast = signal.aborted;
				const id = readJob();
				if (id !== undefined || isLast) {
					return id;
				}

				await clock.sleep(pauseMs, signal).catch(() => undefined);
				pauseMs = Math.min(longestPauseMs, pauseMs * 2);
			}
		},
		open() {
			rmSync(directory, {recursive: true, force: true});
		},
	};
}
