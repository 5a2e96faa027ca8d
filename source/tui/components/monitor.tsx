import {useEffect, useSyncExternalStore, type ReactElement} from 'react';
import {useInput, usePaste, useWindowSize} from 'ink';
import type {World} from '../../core/model/ports.js';
import type {MonitorPorts} from '../ports.js';
import type {StateStore} from '../state/store.js';
import {useMouse} from '../hooks/use-mouse.js';
import type {MouseInput} from '../mouse/input.js';
import type {TerminalModes} from '../terminal-modes.js';
import type {Watched} from '../../core/live/scan-loop.js';
import {useReport} from '../hooks/use-report.js';
import {useController} from '../hooks/use-effects.js';
import {useLiveView} from '../hooks/use-live-view.js';
import {usePast} from '../hooks/use-past.js';
import {useTick} from '../hooks/use-tick.js';
import {useHosts} from '../hooks/use-hosts.js';
import {useOutputPage} from '../hooks/use-output-page.js';
import {useScrollLimit} from '../hooks/use-scroll-limit.js';
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
	const controller = useController({world, store, ports, waits, view, suspend, lendTerminal, quit, broken});
	useMouse({mouse, modes}, state, controller);
	useInput(controller.press);
	usePaste(controller.paste);
	return <Screen state={state} />;
}
