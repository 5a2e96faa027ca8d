import {stripVTControlCharacters} from 'node:util';
import {onTestFinished, vi} from 'vitest';
import {patienceMs} from '../../_helpers/eventually.js';
import {spawnOnTerminal} from '../../_helpers/machine/pty.js';

type TerminalOptions = {
	readonly command: string;
	readonly args: readonly string[];
	readonly directory: string;
	readonly environment: Readonly<Record<string, string>>;
};

/** Runs a program as the session leader of its own terminal, and collects the output. */
export const openTerminal = ({command, args, directory, environment}: TerminalOptions) => {
	const {pty, hangUp} = spawnOnTerminal(command, [...args], {
		cwd: directory,
		env: {...environment},
		cols: 200,
		rows: 50,
	});
	let output = '';
	let read = 0;
	let exitCode: number | undefined;
	pty.onData((data) => {
		output += data;
	});
	pty.onExit((exit) => {
		exitCode = exit.exitCode;
	});
	onTestFinished(hangUp);
	return {
		pid: pty.pid,
		resize(columns: number, rows: number) {
			pty.resize(columns, rows);
		},
		type(keys: string) {
			pty.write(keys);
		},
		/** Waits until the terminal shows this text after the previous match. Returns the output up to the end of the match. */
		async shows(expected: string): Promise<string> {
			return vi.waitFor(
				() => {
					const shown = stripVTControlCharacters(output);
					const at = shown.indexOf(expected, read);
					if (at === -1) {
						throw new Error(`No ${JSON.stringify(expected)} in ${JSON.stringify(shown.slice(read))}`);
					}

					const part = shown.slice(read, at + expected.length);
					read = at + expected.length;
					return part;
				},
				{timeout: patienceMs, interval: 10},
			);
		},
		/** Returns the output since the last match. */
		rest: () => stripVTControlCharacters(output).slice(read),
		async exits(): Promise<number> {
			return vi.waitFor(
				() => {
					if (exitCode === undefined) {
						throw new Error('It still runs');
					}

					return exitCode;
				},
				{timeout: patienceMs, interval: 10},
			);
		},
		/** Closes the terminal. The kernel sends SIGHUP only to the session leader. */
		hangUp() {
			pty.kill = () => undefined;
			hangUp();
		},
	};
};
