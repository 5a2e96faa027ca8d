/** Runs the monitor on fake streams of any size, and reads the screen back as lines. */
import {EventEmitter} from 'node:events';
import {stripVTControlCharacters} from 'node:util';
import type {ReactElement} from 'react';
import {render} from 'ink';
import xterm from '@xterm/headless';
import {expect, vi} from 'vitest';
import {App} from '../../source/tui/app.js';
import {inAscii} from '../../source/tui/ascii.js';
import {Screen} from '../../source/tui/screens/screen.js';
import type {Action} from '../../source/tui/state/actions.js';
import type {MonitorPorts} from '../../source/tui/ports.js';
import type {MouseEvent} from '../../source/tui/mouse/input.js';
import {layoutOf, type PanelId} from '../../source/tui/layout.js';
import {reduce} from '../../source/tui/state/reducer.js';
import {initialState, type Settings, type Size, type State} from '../../source/tui/state/state.js';
import {createStateStore, type StateStore} from '../../source/tui/state/store.js';
import {openingOf} from '../../source/tui/commands/command.js';
import {createTerminalModes} from '../../source/tui/terminal.js';
import {createWaits} from '../../source/tui/live/waiting.js';
import {readCurrent} from '../../source/core/operations/transact.js';
import type {GpuProvider} from '../../source/core/model/ports.js';
import type {FactsOfProcesses} from '../../source/core/model/types.js';
import {patienceMs} from '../_helpers/eventually.js';
import {alice, utcTime, type Box} from './_world.js';
import {drawn} from './_drawn.js';
import {settle} from './_settle.js';

export const settingsFor = (box: Box, more: Partial<Settings> = {}): Settings => ({
	requester: alice,
	hostname: 'gpu-box-3',
	storeLocation: box.store.location,
	isReadonly: false,
	isAscii: false,
	isLight: false,
	isLinear: false,
	hasColor: false,
	hasGradients: false,
	memoryThresholdMiB: box.world.memoryThresholdMiB,
	scanIntervalMs: 2000,
	formatTime: utcTime,
	...more,
});

/** An action, its kind if it has no other fields, or a function that returns the action of a command's key. */
export type Step = Action | Exclude<Action['kind'], 'typed'> | ((state: State) => Action);

/** The action of a command's key: opens a dialog or shows why it is disabled. */
export const pressing =
	(command: Parameters<typeof openingOf>[0]) =>
	(state: State): Action =>
		openingOf(command, state)!;

/** Returns the state after these steps. */
export const after = (state: State, ...steps: readonly Step[]): State => {
	let next = state;
	for (const step of steps) {
		const action = typeof step === 'function' ? step(next) : typeof step === 'string' ? {kind: step} : step;
		next = reduce(next, action as Action);
	}

	return next;
};

/** Returns the state after one read, one scan and further steps. Its clock is at 1000 ms. */
export async function stateOf(
	box: Box,
	size: Size,
	more: Partial<Settings> = {},
	steps: readonly Step[] = [],
	past: readonly Action[] = [],
): Promise<State> {
	const snapshot = await readCurrent(box.world);
	const observation = await box.world.gpus.observe();
	const updates: readonly Action[] = [
		{kind: 'snapshot-arrived', snapshot, nowMs: 1000},
		...past,
		{kind: 'scan-arrived', observation: {...observation, takenAtMs: 1000}, nowMs: 1000},
	];
	return after(initialState(settingsFor(box, more), size, 1000), ...updates, ...steps);
}

/** Returns what Ink draws for a component, with its colors. */
export const drawnBy = (state: State, component: ReactElement): string => {
	const frame = drawn(component, {state});
	return state.settings.isAscii ? inAscii(frame) : frame;
};

/** Returns a frame as lines without colors and trailing spaces. */
export const linesOf = (frame: string): string =>
	stripVTControlCharacters(frame)
		.split('\n')
		.map((line) => line.trimEnd())
		.join('\n');

/** Returns what Ink draws for a component, as lines without colors and trailing spaces. */
export const textOf = (state: State, component: ReactElement): string => linesOf(drawnBy(state, component));

/** Returns the lines inside each panel that is shown, by its name. */
export const shownRows = (state: State): Readonly<Partial<Record<PanelId, number>>> =>
	Object.fromEntries(
		layoutOf(state)
			.blocks.flat()
			.flat()
			.map(({panel, rows}) => [panel, rows]),
	);

/** Returns the whole screen for a state, as lines without colors and trailing spaces. */
export const frameOf = (state: State): string => textOf(state, <Screen />);

const nothing = (): undefined => undefined;

/* eslint-disable unicorn/prefer-event-target, @typescript-eslint/class-literal-property-style -- Streams are emitters. */
export class FakeStdout extends EventEmitter {
	readonly #terminal: xterm.Terminal;
	readonly isTTY: boolean = true;
	columns: number;
	rows: number;
	/** Everything that was written. */
	written = '';

	constructor({columns, rows}: Size) {
		super();
		this.columns = columns;
		this.rows = rows;
		this.#terminal = new xterm.Terminal({cols: columns, rows, allowProposedApi: true, convertEol: true});
	}

	write(text: string, written?: () => void): boolean {
		this.written += text;
		this.#terminal.write(text, written);
		return true;
	}

	resize({columns, rows}: Size): void {
		this.columns = columns;
		this.rows = rows;
		this.#terminal.resize(columns, rows);
		this.emit('resize');
	}

	screen(): readonly string[] {
		const {active} = this.#terminal.buffer;
		return Array.from(
			{length: this.rows},
			(_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '',
		);
	}
}

export class FakeStdin extends EventEmitter {
	readonly #chunks: string[] = [];
	readonly isTTY: boolean = true;
	setEncoding = nothing;
	setRawMode = nothing;
	ref = nothing;
	unref = nothing;
	resume = nothing;
	pause = nothing;

	type(chunk: string): void {
		this.#chunks.push(chunk);
		this.emit('readable');
	}

	read(): unknown {
		return this.#chunks.shift() ?? null;
	}
}
/* eslint-enable unicorn/prefer-event-target, @typescript-eslint/class-literal-property-style */

export const keys = {
	enter: '\r',
	escape: '\u{1B}',
	tab: '\t',
	shiftTab: '\u{1B}[Z',
	left: '\u{1B}[D',
	right: '\u{1B}[C',
	up: '\u{1B}[A',
	down: '\u{1B}[B',
	pageUp: '\u{1B}[5~',
	pageDown: '\u{1B}[6~',
	home: '\u{1B}[H',
	end: '\u{1B}[F',
	backspace: '\u{7F}',
	controlC: '\u{3}',
	controlR: '\u{12}',
} as const;

export type Session = {
	readonly store: StateStore;
	/** Types chunks one after another, each after the previous one was processed. */
	readonly press: (...chunks: readonly string[]) => Promise<void>;
	readonly paste: (text: string) => Promise<void>;
	/** Sends a mouse event at a cell. Cells are counted from 0. */
	readonly mouse: (event: MouseEvent) => Promise<void>;
	readonly resize: (size: Size) => void;
	readonly screen: () => string;
	/** Waits until the screen shows this text. */
	readonly shows: (text: string | RegExp) => Promise<void>;
	/** Waits until the screen no longer shows this text. */
	readonly hides: (text: string) => Promise<void>;
	readonly line: (beginning: string | RegExp) => string;
	/** The number of times the monitor was quit. */
	readonly quits: () => number;
	readonly errors: readonly unknown[];
	/** Leaves the queue, as at the end of the program. */
	readonly leaveAll: () => Promise<void>;
	/** Everything that was written to the terminal. */
	readonly written: () => string;
	readonly unmount: () => void;
};

/** Ends a session after its test, as at the end of the program. Fails if the session had errors. */
export async function endSession(session: Session | undefined): Promise<void> {
	await session?.leaveAll();
	expect(session?.errors ?? []).toEqual([]);
	session?.unmount();
}

/** The kernel's facts about the processes of the box, taken from its GPU readings. */
export const factsIn = (box: Box, pids: readonly number[]): FactsOfProcesses =>
	new Map(
		box.readings
			.flatMap(({processes = []}) => processes)
			.filter(({pid}) => pids.includes(pid))
			.map(({pid, startTicks = 1, user, name, commandLine}) => [
				pid,
				{pid, startTicks, isOwn: user === alice.account, user, name, commandLine},
			]),
	);

/** Starts the monitor on the box. */
export function startMonitor(
	box: Box,
	{
		size = {columns: 80, rows: 24},
		scanIntervalMs = 2000,
		ports = {},
		watched = box.world.gpus,
		...more
	}: Partial<Settings> & {size?: Size; scanIntervalMs?: number; ports?: MonitorPorts; watched?: GpuProvider} = {},
): Session {
	const stdout = new FakeStdout(size);
	const stdin = new FakeStdin();
	const store = createStateStore(initialState(settingsFor(box, more), size, box.world.clock.monotonicMs()));
	const errors: unknown[] = [];
	let quits = 0;
	const broken = (error: unknown): void => {
		errors.push(error);
	};

	const waits = createWaits(store.dispatch, broken);
	let point = (_event: MouseEvent): void => undefined;
	const instance = render(
		<App
			world={box.world}
			watched={{gpus: watched, clock: box.world.clock}}
			store={store}
			ports={{inspectProcesses: async (pids) => factsIn(box, pids), ...ports}}
			waits={waits}
			scanIntervalMs={scanIntervalMs}
			mouse={{
				stdin: stdin as unknown as NodeJS.ReadStream,
				listen(listener) {
					point = listener;
				},
			}}
			modes={createTerminalModes(() => undefined)}
			quit={() => {
				quits++;
			}}
			broken={broken}
		/>,
		{
			stdout: stdout as unknown as NodeJS.WriteStream,
			stdin: stdin as unknown as NodeJS.ReadStream,
			alternateScreen: true,
			incrementalRendering: true,
			maxFps: 60,
			patchConsole: false,
			exitOnCtrlC: false,
			interactive: true,
		},
	);
	const screen = (): string => stdout.screen().join('\n');
	const until = async (check: () => void): Promise<void> => vi.waitFor(check, {timeout: patienceMs, interval: 10});

	return {
		store,
		async press(...chunks) {
			for (const chunk of chunks) {
				stdin.type(chunk);
				await settle();
			}
		},
		async paste(text) {
			stdin.type(`\u{1B}[200~${text}\u{1B}[201~`);
			await settle();
		},
		async mouse(event) {
			point(event);
			await settle();
		},
		resize(newSize) {
			stdout.resize(newSize);
		},
		screen,
		shows: async (text) =>
			until(() => {
				expect(screen()).toMatch(text);
			}),
		hides: async (text) =>
			until(() => {
				expect(screen()).not.toContain(text);
			}),
		line: (beginning) => stdout.screen().find((line) => line.search(beginning) !== -1) ?? '',
		quits: () => quits,
		errors,
		leaveAll: waits.leaveAll,
		written: () => stdout.written,
		unmount() {
			instance.unmount();
		},
	};
}
