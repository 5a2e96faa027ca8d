/** A clock for single processes, which tests can set to another time. */
import {execFileSync} from 'node:child_process';
import {mkdtempSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

const source = fileURLToPath(new URL('shift-clock.c', import.meta.url));

export type ShiftedClock = {
	/** Environment variables that give this clock to a process. */
	readonly environment: Readonly<Record<string, string>>;
	/** Sets the offset from the real time, in seconds. */
	readonly jump: (seconds: number) => void;
};

/** Compiles the clock. Needs a C compiler. */
export function createShiftedClock(): ShiftedClock {
	const directory = mkdtempSync(path.join(tmpdir(), 'shift-clock-'));
	const library = path.join(directory, 'shift-clock.so');
	const file = path.join(directory, 'seconds');
	execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', library, source, '-ldl']);
	const jump = (seconds: number): void => {
		writeFileSync(file, String(seconds));
	};

	jump(0);
	return {environment: {LD_PRELOAD: library, SHIFT_CLOCK_FILE: file}, jump};
}
