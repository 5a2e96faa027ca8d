/** The built monitor on its own terminal. */
import {execFileSync} from 'node:child_process';
import {chmodSync, cpSync, mkdtempSync, rmSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {onTestFinished} from 'vitest';
import {openTerminal, type Size, type Terminal} from '../../_helpers/machine/terminal.js';
import {program, starter, starterText, type Box} from '../../_helpers/program/cli.js';

type Options = {
	readonly flags?: readonly string[];
	readonly size?: Size;
	readonly environment?: Readonly<Record<string, string>>;
	/** Runs as an account without root's rights, even if the tests run as root. */
	readonly isOrdinary?: boolean;
	/** A shell command that wraps the monitor. `"$@"` is the monitor. */
	readonly shell?: string;
};

export const keys = {
	enter: '\r',
	escape: '\u{1B}',
	tab: '\t',
	controlC: '\u{3}',
	controlZ: '\u{1A}',
	controlR: '\u{12}',
} as const;

/** The account `nobody`. */
const nobody = 65_534;

/** Drops root's rights before the program is loaded. */
const giveUpRights = `data:text/javascript,process.setgroups([]);process.setgid(${nobody});process.setuid(${nobody});`;

type Start = {
	readonly command: readonly string[];
	/** The home and working directory. */
	readonly home: string;
	readonly environment: Readonly<Record<string, string>>;
};

/** Prepares a start as an ordinary account. For root, it copies the program to where everybody can read it. */
function ordinaryStart(start: Start): Start {
	if (process.getuid?.() !== 0) {
		return start;
	}

	const home = mkdtempSync('/tmp/canhazgpu-nobody-');
	onTestFinished(() => {
		rmSync(home, {recursive: true, force: true});
	});
	cpSync(path.dirname(program), path.join(home, 'dist'), {recursive: true});
	// The mode must not depend on the umask of the build.
	execFileSync('chmod', ['-R', 'a+rX', home]);
	chmodSync(home, 0o777);
	return {
		command: [process.execPath, '--import', giveUpRights, path.join(home, 'dist/cli.js')],
		home,
		environment: {...start.environment, HOME: home, CANHAZGPU_POOL_DIRECTORY: path.join(home, 'shared')},
	};
}

/** Opens the monitor, and closes it when the test ends. */
export function startTop(
	box: Box,
	{flags = [], size = {columns: 120, rows: 32}, environment = {}, isOrdinary = false, shell}: Options = {},
): Terminal {
	const own = {command: [starter, ...starterText], home: box.home, environment: box.environment};
	const start = isOrdinary ? ordinaryStart(own) : own;
	const words = [...start.command, 'top', ...flags];
	const [file, ...parameters] = shell === undefined ? words : ['/bin/sh', '-c', shell, 'sh', ...words];
	const terminal = openTerminal(file!, parameters, {
		...size,
		cwd: start.home,
		environment: {...start.environment, ...environment},
	});
	onTestFinished(async () => terminal.close());
	return terminal;
}

/** Whether the screen is a table of this many GPUs that were scanned at least once. */
export const isShown =
	(gpuCount: number) =>
	(screen: string): boolean =>
		screen.match(/^.{0,3}\d+ +(?:Free|Mine|Reserved|Idle) /gmv)?.length === gpuCount;

/** The row of a GPU. */
export const rowOf = (screen: readonly string[], gpu: number): string =>
	screen.find((line) => new RegExp(String.raw`^\W*${gpu} +[A-Za-z]`, 'v').test(line)) ?? '';

/** The GPUs in `status --json`. */
export async function statusOf(box: Box): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> {
	const {stdout} = await box.run('status --json');
	return JSON.parse(stdout) as ReadonlyArray<Readonly<Record<string, unknown>>>;
}

export type Faults = {
	/** Frames that were taller or wider than the terminal, so that it scrolled or wrapped a line. */
	readonly overflows: () => readonly string[];
};

/** Watches every frame from now on. */
export function watchFrames({emulator, isAlternate}: Terminal): Faults {
	const overflows: string[] = [];
	let wasAlternate = isAlternate();
	emulator.onScroll(() => {
		// Switching between the two screens also counts as scrolling.
		const isSwitch = wasAlternate !== isAlternate();
		wasAlternate = isAlternate();
		if (wasAlternate && !isSwitch) {
			overflows.push('scrolled');
		}
	});
	emulator.onWriteParsed(() => {
		const {active} = emulator.buffer;
		for (let row = 0; isAlternate() && row < emulator.rows; row++) {
			const line = active.getLine(row);
			if (line?.isWrapped) {
				overflows.push(line.translateToString(true, 0, emulator.cols));
			}
		}
	});
	return {overflows: () => overflows};
}

/** Raw output with visible escapes, for use in regular expressions. */
export const spelled = (raw: string): string => raw.replaceAll('\u{1B}', '␛');

/** Sequences that clear the screen or part of it, which would flicker. With visible escapes. */
export const clears = /␛\[[0-3]?J/v;
