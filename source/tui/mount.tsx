/** Puts the monitor on the terminal, and gives the terminal back on every way out. */
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
import {colorLevelIn, isInGnuScreen, type ColorLevel, createTerminalModes} from './terminal.js';
import {isLight, schemeOf} from './theme.js';
import {createMouseInput, mayHaveMouse, type MouseInput} from './mouse/input.js';
import type {MonitorPorts, MonitorOptions} from './ports.js';
import {createWaits} from './verbs/shared/waiting.js';

const noPorts: MonitorPorts = {};

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal];

/** Ink does not mind https://no-color.org itself. */
const isColorRefused = (): boolean => (process.env['NO_COLOR'] ?? '') !== '';

/** Exit code, or the error that ended it. */
type End = {readonly code: number} | {readonly error: unknown};

const localTime = new Intl.DateTimeFormat('en-GB', {hour: '2-digit', minute: '2-digit', second: '2-digit'});

/**
A terminal that was closed refuses every word and every change of its mode, before its SIGHUP is heard or after: either way the monitor comes
to its ordered end.

@returns The way to give the errors of this stream back to the listeners that were there before.
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

/** How long a terminal that nobody reads may take for the last frame, in milliseconds. */
const lastFrameMs = 1000;

/** Waits until the screen is given back, unless nobody reads the terminal. */
async function withinTime(unmounted: Promise<unknown>): Promise<void> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, lastFrameMs);
	});
	await Promise.race([unmounted.then(() => undefined).catch(() => undefined), late]);
	clearTimeout(timer);
}

/** Undefined where the terminal has none. */
const openMouse = (stdin: NodeJS.ReadStream): MouseInput | undefined =>
	mayHaveMouse(process.env['TERM']) ? createMouseInput(stdin) : undefined;

type TerminalSettings = Pick<Settings, 'scanIntervalMs' | 'isLinear' | 'hasMouse'> & {readonly colorLevel: ColorLevel};

/** What does not change while the monitor runs: what was asked for, and what the terminal can do. */
const settingsOf = (options: MonitorOptions, {colorLevel, ...terminal}: TerminalSettings): Settings => ({
	...terminal,
	requester: options.requester,
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
	// Chalk maps exact colours to the nearest of 256.
	hasGradients: colorLevel >= 2,
	hasSixteenColors: colorLevel === 1,
	isLight: isLight(options.theme, process.env['COLORFGBG']),
	scheme: schemeOf(options.theme),
	keys: options.keys,
	// Escape is worth more there.
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
	// The name that Ink gives it.
	const isLinear = process.env['INK_SCREEN_READER'] === 'true';
	const mouse = isLinear ? undefined : openMouse(stdin);
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
	const {promise: ended, resolve: end} = Promise.withResolvers<End>();
	const broken = (error: unknown): void => {
		end({error});
	};

	const waits = createWaits(store.dispatch, broken);
	const quit = (): void => {
		end({code: 0});
	};

	const onSignal = (signal: NodeJS.Signals): void => {
		end({code: exitCodeOf(signal)});
	};

	for (const signal of endingSignals) {
		process.on(signal, onSignal);
	}

	const closed = (): void => {
		onSignal('SIGHUP');
	};

	// Also stderr: with SIGHUP comes a SIGCONT, after which Node asks each of its terminals for its size.
	const streams = [stdout, stdin, ...(stderr.isTTY ? [stderr] : [])].map((stream) => handleErrors(stream, closed));
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

	const modes = createTerminalModes(write);
	modes.take();
	const instance = render(
		<App
			world={world}
			watched={{gpus: options.watchedGpus ?? world.gpus, clock: world.clock}}
			store={store}
			drawn={output === undefined ? store : whileDrained(store, output)}
			ports={options.ports ?? noPorts}
			waits={waits}
			scanIntervalMs={scanIntervalMs}
			mouse={mouse}
			modes={modes}
			quit={quit}
			broken={broken}
		/>,
		{
			stdout: withWrite(stdout, write),
			stdin: mouse?.stdin ?? stdin,
			stderr,
			// A screen reader reads on from where it is: the lines stay among the others.
			alternateScreen: !isLinear,
			incrementalRendering: true,
			maxFps: 60,
			patchConsole: false,
			exitOnCtrlC: false,
			interactive: true,
		},
	);
	// Ink itself exits when a component throws.
	void instance.waitUntilExit().then(quit).catch(broken);

	const outcome = await ended;
	// A click from now on is not ours.
	modes.setMouse(false);
	// The terminal first: whatever is printed about the end must be readable.
	instance.unmount();
	await withinTime(instance.waitUntilExit());
	modes.leave();
	if (isLinear) {
		// The shell's prompt begins a line of its own.
		write('\n');
	}

	// The waits that this monitor began leave the queue: no one would take what they are given.
	await waits.leaveAll();
	// Of a terminal that is gone there may be more errors to come, a little later than the writes.
	if (!('code' in outcome && outcome.code === exitCodeOf('SIGHUP'))) {
		for (const giveBack of streams) {
			giveBack();
		}
	}

	for (const signal of endingSignals) {
		process.off(signal, onSignal);
	}

	process.off('uncaughtException', broken);
	process.off('unhandledRejection', broken);
	if ('error' in outcome) {
		throw outcome.error;
	}

	return outcome.code;
}
