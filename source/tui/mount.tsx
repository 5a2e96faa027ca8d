/** Shows the monitor on the terminal, and restores the terminal on every exit. */
import process from 'node:process';
import {constants} from 'node:os';
import chalk, {supportsColor} from 'chalk';
import {render} from 'ink';
import {App} from './app.js';
import {inAscii} from './ascii.js';
import {whileDrained, withWrite} from './terminal-output.js';
import {flashMs, initialState, type Settings} from './state/state.js';
import type {Flash} from './state/messages.js';
import {startingWith} from './state/view/reduce.js';
import {createStateStore} from './state/store.js';
import {colorLevelIn, createTerminalModes, fromTopLeft, isInGnuScreen, type ColorLevel} from './terminal.js';
import {withTheme} from './theme.js';
import {createMouseInput, mayHaveMouse} from './mouse/input.js';
import type {MonitorOptions} from './ports.js';
import {createWaits} from './live/waiting.js';
import {withinTime} from './live/within-time.js';

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/** Whether the user has turned colors off with NO_COLOR (https://no-color.org), which Ink does not read. */
const isColorRefused = (): boolean => (process.env['NO_COLOR'] ?? '') !== '';

const localTime = new Intl.DateTimeFormat('en-GB', {hour: '2-digit', minute: '2-digit', second: '2-digit'});

/**
Ends the monitor properly when the terminal is closed. After that, every write and mode change fails, possibly before SIGHUP arrives.

@returns A function that restores the error listeners that the stream had before.
*/
function handleErrors(stream: NodeJS.ReadStream | NodeJS.WriteStream, closed: () => void): () => void {
	const others = stream.listeners('error') as Array<(error: Error) => void>;
	stream.removeAllListeners('error');
	stream.on('error', closed);
	return () => {
		stream.off('error', closed);
		for (const listener of others) {
			stream.on('error', listener);
		}
	};
}

/** Time limit in ms for restoring the screen, in case the terminal reads no output. */
const lastFrameMs = 1000;

type TerminalSettings = Pick<Settings, 'scanIntervalMs' | 'isLinear' | 'hasMouse'> & {readonly colorLevel: ColorLevel};

const settingsOf = (options: MonitorOptions, {colorLevel, ...terminal}: TerminalSettings): Settings => ({
	...terminal,
	...withTheme({terminalColors: process.env['COLORFGBG']}, options.theme),
	requester: options.requester,
	groupsAmong: options.world.host.groupsAmong,
	hostname: options.hostname,
	poolLabel: options.poolLabel,
	engine: options.engine,
	lacks: options.lacks,
	storeLocation: options.world.store.location,
	isReadonly: options.isReadonly,
	otherHosts: options.otherHosts,
	hasNoPool: options.hasNoPool,
	isAscii: options.isAscii,
	graphs: options.graphs,
	hasColor: !(options.noColor ?? isColorRefused()),
	isInGnuScreen: isInGnuScreen(process.env),
	// With 256 colors, chalk replaces exact colors by similar ones.
	hasGradients: colorLevel >= 2,
	hasSixteenColors: colorLevel === 1,
	keys: options.keys,
	// In GNU screen, the mouse is off by default, because it would delay the Escape key.
	isMouseWanted: options.isMouseOn ?? !isInGnuScreen(process.env),
	memoryThresholdMiB: options.world.memoryThresholdMiB,
	formatTime: options.formatTime ?? ((seconds) => localTime.format(new Date(seconds * 1000))),
});

export async function mountMonitor(options: MonitorOptions): Promise<number> {
	const {
		world,
		scanIntervalMs = 2000,
		stdout = process.stdout,
		stdin = process.stdin,
		stderr = process.stderr,
	} = options;
	// Ink reads the same variable to decide whether it writes for a screen reader.
	const isLinear = process.env['INK_SCREEN_READER'] === 'true';
	const mouse = !isLinear && mayHaveMouse(process.env['TERM']) ? createMouseInput(stdin) : undefined;
	const nowMs = world.clock.monotonicMs();
	const notice: Flash | undefined =
		options.notice === undefined ? undefined : {level: 'warning', text: options.notice, untilMs: nowMs + 2 * flashMs};
	const colorLevel = colorLevelIn(process.env, supportsColor === false ? 0 : supportsColor.level);
	chalk.level = Math.min(chalk.level, colorLevel) as ColorLevel;
	const settings = settingsOf(options, {scanIntervalMs, isLinear, hasMouse: mouse !== undefined, colorLevel});
	const store = createStateStore(
		startingWith(
			initialState(settings, {columns: stdout.columns, rows: stdout.rows}, nowMs, notice),
			options.view ?? {},
		),
	);
	const {promise: exitCode, resolve: end, reject: broken} = Promise.withResolvers<number>();
	const waits = createWaits(store.dispatch, broken);
	const quit = (): void => {
		end(0);
	};

	const onSignal = (signal: NodeJS.Signals): void => {
		end(exitCodeOf(signal));
	};

	for (const signal of endingSignals) {
		process.on(signal, onSignal);
	}

	// Includes stderr: on SIGCONT, which follows SIGHUP, Node reads the terminal size of each stream, which fails if the terminal is closed.
	const streams = [stdout, stdin, ...(stderr.isTTY ? [stderr] : [])].map((stream) =>
		handleErrors(stream, () => {
			onSignal('SIGHUP');
		}),
	);
	process.on('uncaughtException', broken);
	process.on('unhandledRejection', broken);
	const output = options.openOutput?.((error) => {
		stdout.emit('error', error);
	});
	const write = (text: string, written?: () => void): boolean => {
		const shown = settings.isAscii ? inAscii(text) : text;
		if (output === undefined) {
			return stdout.write(shown, written);
		}

		output.write(shown, written);
		return !output.isStalled();
	};

	const modes = createTerminalModes(write, options.refuseMessages);
	modes.take();
	if (stdin.isTTY) {
		// Ink does this only after the first frame, so the terminal would show keys that are pressed earlier, and move the cursor.
		stdin.setRawMode(true);
	}

	const instance = render(
		<App
			world={world}
			watched={{gpus: options.watchedGpus ?? world.gpus, clock: world.clock}}
			store={store}
			drawn={output === undefined ? store : whileDrained(store, output)}
			ports={options.ports ?? {}}
			waits={waits}
			scanIntervalMs={scanIntervalMs}
			mouse={mouse}
			modes={modes}
			quit={quit}
			broken={broken}
		/>,
		{
			stdout: withWrite(stdout, (frame, written) => write(fromTopLeft(frame), written)),
			stdin: mouse?.stdin ?? stdin,
			stderr,
			// A screen reader continues from its position, so earlier lines must stay in the scrollback of the normal screen.
			alternateScreen: !isLinear,
			incrementalRendering: true,
			maxFps: 60,
			patchConsole: false,
			exitOnCtrlC: false,
			interactive: true,
		},
	);
	// If a component throws an error, Ink exits by itself, so the monitor must also end.
	void instance.waitUntilExit().then(quit).catch(broken);

	const [outcome] = await Promise.allSettled([exitCode]);
	modes.setMouse(false);
	// Restores the terminal first, so that messages about the exit are readable.
	instance.unmount();
	await withinTime(instance.waitUntilExit(), lastFrameMs);
	modes.leave();
	if (isLinear) {
		// The shell prompt must start on a new line.
		write('\n');
	}

	// Cancels waiting requests, because nobody would use GPUs that are granted after the monitor has ended.
	await waits.leaveAll();
	// If the terminal was closed, keeps handling errors, because the last writes can still fail.
	if (outcome.status === 'rejected' || outcome.value !== exitCodeOf('SIGHUP')) {
		for (const giveBack of streams) {
			giveBack();
		}
	}

	for (const signal of endingSignals) {
		process.off(signal, onSignal);
	}

	process.off('uncaughtException', broken);
	process.off('unhandledRejection', broken);
	return exitCode;
}
