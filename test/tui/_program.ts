/** The built monitor on a terminal of its own. */
import {chmodSync, cpSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {onTestFinished} from 'vitest';
import {openTerminal, type Size, type Terminal} from '../_helpers/terminal.js';
import {program, type Box} from '../_helpers/cli.js';

type Options = {
	readonly flags?: readonly string[];
	readonly size?: Size;
	readonly environment?: Readonly<Record<string, string>>;
	/** As an account that may change only what is its own, even where the tests run as root. */
	readonly isOrdinary?: boolean;
	/** A shell command around it: `"$@"` is the monitor. */
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

/** Gives up all rights before the program is loaded. */
const giveUpRights = `data:text/javascript,process.setgroups([]);process.setgid(${nobody});process.setuid(${nobody});`;

/** What starts it as an ordinary account: as root, a copy of it that everybody may read. */
function ordinaryCommand(box: Box): readonly string[] {
	if (process.getuid?.() !== 0) {
		return [process.execPath, program];
	}

	const copy = path.join(box.home, 'dist');
	cpSync(path.dirname(program), copy, {recursive: true});
	chmodSync(box.home, 0o777);
	return [process.execPath, '--import', giveUpRights, path.join(copy, 'cli.js')];
}

/** Opens it; it is closed when the test ends. */
export function startTop(
	box: Box,
	{flags = [], size = {columns: 120, rows: 32}, environment = {}, isOrdinary = false, shell}: Options = {},
): Terminal {
	const command = isOrdinary ? ordinaryCommand(box) : [process.execPath, program];
	const words = [...command, 'top', ...flags];
	const [file, ...parameters] = shell === undefined ? words : ['/bin/sh', '-c', shell, 'sh', ...words];
	const terminal = openTerminal(file!, parameters, {
		...size,
		cwd: box.home,
		environment: {...box.environment, ...environment},
	});
	onTestFinished(async () => terminal.close());
	return terminal;
}

/** A table of this many GPUs that were scanned at least once. */
export const isShown =
	(gpuCount: number) =>
	(screen: string): boolean =>
		screen.match(/^.{0,3}\d+ +(?:FREE|mine|reserved|IDLE) /gmv)?.length === gpuCount;

/** The line of one GPU. */
export const rowOf = (screen: readonly string[], gpu: number): string =>
	screen.find((line) => line.search(new RegExp(String.raw`^\W*${gpu} +[A-Za-z]`, 'v')) !== -1) ?? '';

/** What `status --json` says of each GPU. */
export async function statusOf(box: Box): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> {
	const {stdout} = await box.run('status --json');
	return JSON.parse(stdout) as ReadonlyArray<Readonly<Record<string, unknown>>>;
}

export type Faults = {
	/** Frames that were taller or wider than the terminal: the terminal scrolled, or a line went on in the next. */
	readonly overflows: () => readonly string[];
};

/** Watches every frame from now on. */
export function watchFrames({emulator, isAlternate}: Terminal): Faults {
	const overflows: string[] = [];
	emulator.onScroll(() => {
		if (isAlternate()) {
			overflows.push('scrolled');
		}
	});
	emulator.onWriteParsed(() => {
		const {active} = emulator.buffer;
		for (let row = 0; isAlternate() && row < emulator.rows; row++) {
			const line = active.getLine(row);
			if (line?.isWrapped) {
				overflows.push(line.translateToString(true));
			}
		}
	});
	return {overflows: () => overflows};
}

/** Sequences that empty the screen or a part of it, so that it is seen empty for a moment. */
export const clears = /\u{1B}\[[0-3]?J/v;
