/** Runs a program on a real pseudoterminal, and reads the screen through an emulator. */
import process from 'node:process';
import xterm from '@xterm/headless';
import {patienceMs} from '../eventually.js';
import {spawnOnTerminal} from './pty.js';

export type Size = {readonly columns: number; readonly rows: number};

export type Exit = {readonly exitCode: number; readonly signal: number | undefined};

export type Terminal = {
	readonly pid: number;
	/** Types text into the terminal. */
	readonly write: (keys: string) => void;
	readonly resize: (size: Size) => void;
	/** The visible lines without trailing blanks. */
	readonly screen: () => readonly string[];
	/**
	Waits until the screen matches.

	@throws With the current screen if the time is up or the program has ended.
	*/
	readonly waitFor: (
		condition: RegExp | string | ((screen: string) => boolean),
		timeoutMs?: number,
	) => Promise<readonly string[]>;
	/** Resolves when the program has ended and its last output is on the screen. */
	readonly exit: Promise<Exit>;
	readonly kill: (signal?: NodeJS.Signals) => void;
	/** Stops reading the output, as a terminal does while the user selects text. */
	readonly pause: () => void;
	readonly resume: () => void;
	/** Closes the terminal, as if its window was closed or the connection was lost. */
	readonly hangUp: () => void;
	/** Returns the number of characters written so far, as a position for `rawSince`. */
	readonly mark: () => number;
	/** Returns the output since the mark, as the program wrote it. */
	readonly rawSince: (mark: number) => string;
	/** Registers a listener that gets all output before the emulator draws it. */
	readonly onData: (listener: (text: string) => void) => void;
	/** Whether the program uses the alternate screen. */
	readonly isAlternate: () => boolean;
	readonly isCursorShown: () => boolean;
	/** The emulator, from which tests read the colors of cells. */
	readonly emulator: xterm.Terminal;
	/** Kills the program if it still runs, and frees all resources. */
	readonly close: () => Promise<void>;
};

type Options = Partial<Size> & {
	/** The whole environment of the program. */
	readonly environment?: Readonly<Record<string, string>>;
	readonly cwd?: string;
};

export function openTerminal(
	command: string,
	parameters: readonly string[],
	{columns = 120, rows = 32, environment = process.env as Record<string, string>, cwd = process.cwd()}: Options = {},
): Terminal {
	const emulator = new xterm.Terminal({cols: columns, rows, allowProposedApi: true, scrollback: 1000});
	const {pty, hangUp} = spawnOnTerminal(command, [...parameters], {
		name: 'xterm-256color',
		cols: columns,
		rows,
		cwd,
		env: {...environment},
	});
	let written = '';
	let hasEnded = false;
	/** The waiting conditions, which are checked after every event. */
	const watchers = new Set<() => void>();
	const listeners: Array<(text: string) => void> = [];
	const check = (): void => {
		for (const watcher of watchers) {
			watcher();
		}
	};

	// A program can query the terminal and wait for the answer.
	emulator.onData((answer) => {
		pty.write(answer);
	});
	pty.onData((text) => {
		written += text;
		for (const listener of listeners) {
			listener(text);
		}

		emulator.write(text, check);
	});
	const exit = new Promise<Exit>((resolve) => {
		pty.onExit(({exitCode, signal}) => {
			// This callback runs after all earlier output is drawn.
			emulator.write('', () => {
				hasEnded = true;
				check();
				resolve({exitCode, signal: signal === 0 ? undefined : signal});
			});
		});
	});

	const screen = (): readonly string[] => {
		const {active} = emulator.buffer;
		return Array.from(
			{length: emulator.rows},
			(_, row) =>
				active
					.getLine(active.viewportY + row)
					?.translateToString(true, 0, emulator.cols)
					.trimEnd() ?? '',
		);
	};

	return {
		pid: pty.pid,
		write(keys) {
			pty.write(keys);
		},
		resize({columns: newColumns, rows: newRows}) {
			emulator.resize(newColumns, newRows);
			pty.resize(newColumns, newRows);
		},
		screen,
		async waitFor(condition, timeoutMs = patienceMs) {
			const isMet = (text: string): boolean =>
				typeof condition === 'function'
					? condition(text)
					: typeof condition === 'string'
						? text.includes(condition)
						: condition.test(text);
			return new Promise((resolve, reject) => {
				const settle = (finish: () => void): void => {
					watchers.delete(watcher);
					clearTimeout(timer);
					finish();
				};

				const fail = (why: string): void => {
					settle(() => {
						reject(new Error(`${why}: ${String(condition)}\n${screen().join('\n')}`));
					});
				};

				const watcher = (): void => {
					// A user would not see a frame that is only partly drawn.
					if (emulator.modes.synchronizedOutputMode && !hasEnded) {
						return;
					}

					const lines = screen();
					if (isMet(lines.join('\n'))) {
						settle(() => {
							resolve(lines);
						});
					} else if (hasEnded) {
						fail('The program ended without showing this');
					}
				};

				const timer = setTimeout(fail, timeoutMs, `The terminal did not show this in ${timeoutMs} ms`);
				watchers.add(watcher);
				watcher();
			});
		},
		exit,
		kill(signal) {
			pty.kill(signal);
		},
		pause() {
			pty.pause();
		},
		resume() {
			pty.resume();
		},
		hangUp,
		mark: () => written.length,
		rawSince: (mark) => written.slice(mark),
		onData(listener) {
			listeners.push(listener);
		},
		isAlternate: () => emulator.buffer.active.type === 'alternate',
		isCursorShown: () => written.lastIndexOf('\u{1B}[?25h') >= written.lastIndexOf('\u{1B}[?25l'),
		emulator,
		async close() {
			if (!hasEnded) {
				pty.kill('SIGKILL');
				await exit;
			}

			emulator.dispose();
		},
	};
}
