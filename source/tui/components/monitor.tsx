import {useEffect, useMemo, useSyncExternalStore, type ReactElement} from 'react';
import {useInput, usePaste, useStdout, useWindowSize} from 'ink';
import {createController} from '../controller.js';
import {createVerbRunner} from '../verbs/dispatch.js';
import type {World} from '../../core/model/ports.js';
import type {MonitorPorts} from '../ports.js';
import type {StateStore} from '../state/store.js';
import {useLiveView, useTick, useHosts, useOutputPage, useScrollLimit} from '../hooks/use-live-updates.js';
import type {MouseInput} from '../mouse/input.js';
import type {TerminalModes} from '../terminal.js';
import type {Watched} from '../../core/live/scan-loop.js';
import {useReport, usePast} from '../hooks/use-read-again.js';
import {useSuspend} from '../hooks/use-suspend.js';
import type {Waits} from '../verbs/shared/waiting.js';
import {Screen} from './screen.js';

type Properties = {
	readonly world: World;
	/** What is shown of the GPUs. */
	readonly watched: Watched;
	readonly store: StateStore;
	readonly ports: MonitorPorts;
	readonly waits: Waits;
	readonly scanIntervalMs: number;
	readonly mouse?: MouseInput;
	readonly modes: TerminalModes;
	readonly quit: () => void;
	/** Called with a bug; the monitor ends. */
	readonly broken: (error: unknown) => void;
};

/** The monitor: the state on the screen, keys and news into the state. */
export function Monitor({
	world,
	watched,
	store,
	ports,
	waits,
	scanIntervalMs,
	mouse,
	modes,
	quit,
	broken,
}: Properties): ReactElement {
	const {dispatch} = store;
	const state = useSyncExternalStore(store.subscribe, store.getState);
	const {isReadonly, hasNoPool = false} = state.settings;
	const view = useLiveView({world, watched, scanIntervalMs, isReadonly, hasNoPool}, dispatch, broken);
	useTick(world, state.nowMs, dispatch);
	useReport(world, state, dispatch, broken);
	usePast(world, state, dispatch, broken);
	useOutputPage(state, dispatch);
	useHosts(world, ports, state, dispatch);
	useScrollLimit(state, dispatch);

	const {columns, rows} = useWindowSize();
	useEffect(() => {
		dispatch({kind: 'resized', size: {columns, rows}});
	}, [dispatch, columns, rows]);

	const {suspend, lendTerminal} = useSuspend(modes);
	const {stdout} = useStdout();
	const controller = useMemo(() => {
		const refresh = (): void => {
			view.current?.refresh();
		};

		const writeTerminal = (text: string): void => {
			stdout.write(text);
		};

		const runner = createVerbRunner({world, store, ports, waits, refresh, quit, lendTerminal, writeTerminal});
		return createController(store, runner, {quit, suspend, refresh, broken});
	}, [world, store, ports, waits, view, suspend, lendTerminal, quit, broken, stdout]);
	const {isMouseOn = false} = state;
	useEffect(() => {
		modes.setMouse(isMouseOn);
		mouse?.listen(isMouseOn ? controller.point : () => undefined);
	}, [mouse, modes, isMouseOn, controller]);
	useInput(controller.press);
	usePaste(controller.paste);
	return <Screen state={state} />;
}
