/** The built monitor on its own terminal, observed from outside. */
import {readFileSync} from 'node:fs';
import {launcher, type Box} from '../../_helpers/program/cli.js';
import {openTerminal, type Terminal} from '../../_helpers/machine/terminal.js';

export type Monitor = Terminal & {
	/** The time of the monitor's last output on this process's clock. */
	readonly arrivedAt: () => number;
	readonly startedAt: number;
};

/**
Opens the monitor with the launcher, as users do.

@param environment - Variables in addition to those of the box.
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

/** Waits until the screen matches, and returns the time of the output that caused it. */
export async function shownAt(monitor: Monitor, condition: RegExp | string): Promise<number> {
	await monitor.waitFor(condition);
	return monitor.arrivedAt();
}

/** Processor time of the monitor in seconds. Linux only. */
export function cpuSeconds({pid}: Pick<Monitor, 'pid'>): number {
	const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
	// Field 3 is the first after the name, which can contain anything.
	const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
	const field = (number: number): number => Number(fields[number - 3]);
	return (field(14) + field(15)) / 100;
}

/** Resident memory of the monitor in MiB. Linux only. */
export function residentMiB({pid}: Monitor): number {
	const status = readFileSync(`/proc/${pid}/status`, 'utf8');
	const line = status.split('\n').find((text) => text.startsWith('VmRSS:')) ?? '';
	return Number(line.split(/\s+/v, 2)[1]) / 1024;
}
