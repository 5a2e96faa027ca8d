/** The built monitor on a terminal of its own, watched from outside. */
import {readFileSync} from 'node:fs';
import {launcher, type Box} from '../../_helpers/program/cli.js';
import {openTerminal, type Terminal} from '../../_helpers/machine/terminal.js';

export type Monitor = Terminal & {
	/** When its last output came, on this process's clock. */
	readonly arrivedAt: () => number;
	readonly startedAt: number;
};

/**
Opens the monitor the way users do, with the launcher.

@param environment - More than that of the box.
*/
export function openMonitor(box: Box, environment: Readonly<Record<string, string>> = {}): Monitor {
	let last = 0;
	const startedAt = performance.now();
	const terminal = openTerminal(launcher, ['top'], {
		columns: 120,
		rows: 32,
		cwd: box.home,
		environment: {...box.environment, ...environment},
	});
	terminal.onData(() => {
		last = performance.now();
	});
	return {...terminal, arrivedAt: () => last, startedAt};
}

/** When the output came that made the screen so. */
export async function shownAt(monitor: Monitor, condition: RegExp | string): Promise<number> {
	await monitor.waitFor(condition);
	return monitor.arrivedAt();
}

/** Seconds of processor time that it has used. Linux only. */
export function cpuSeconds({pid}: Pick<Monitor, 'pid'>): number {
	const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
	// The third field is the first after the name, which may hold anything.
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	const field = (number: number): number => Number(fields[number - 3]);
	return (field(14) + field(15)) / 100;
}

/** Memory of it that is in use, in MiB. Linux only. */
export function residentMiB({pid}: Monitor): number {
	const status = readFileSync(`/proc/${pid}/status`, 'utf8');
	const line = status.split('\n').find((text) => text.startsWith('VmRSS:')) ?? '';
	return Number(line.split(/\s+/v, 2)[1]) / 1024;
}
