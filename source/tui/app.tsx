import {useCallback, useEffect, useMemo, type ReactElement} from 'react';
import {useInput, usePaste, useStdout, useWindowSize} from 'ink';
import type {Watched} from '../core/live/scan-loop.js';
import type {World} from '../core/model/ports.js';
import {createController} from './controller.js';
import {useReport, usePast} from './live/use-read-again.js';
import {useScanning} from './live/use-scanning.js';
import {useHosts, useJobs, useLiveView, useOutputPage, useTick} from './live/use-live-updates.js';
import {useSuspend} from './live/use-suspend.js';
import {KeyContext} from './mouse/clickable.js';
import type {MouseInput} from './mouse/input.js';
import {createMouseTargets, MouseContext} from './mouse/mouse-context.js';
import type {MonitorPorts} from './ports.js';
import {Screen} from './screens/screen.js';
import type {StateStore} from './state/store.js';
import {StoreContext, useDispatch, useMonitor} from './state/use-monitor.js';
import type {TerminalModes} from './terminal.js';
import type {EffectContext, Waits} from './commands/command.js';
import {createCommandRunner} from './commands/dispatch.js';

type Properties = {
	readonly world: World;
	readonly watched: Watched;
	readonly store: StateStore;
	/** The state to draw, which does not change while the terminal reads no output. Defaults to `store`. */
	readonly drawn?: StateStore;
	readonly ports: MonitorPorts;
	readonly waits: Waits;
	readonly scanIntervalMs: number;
	readonly mouse?: MouseInput;
	readonly modes: TerminalModes;
	readonly quit: () => void;
	/** Called with an unexpected error. The monitor then exits. */
	readonly broken: (error: unknown) => void;
};

function useLiveData(properties: Properties): Pick<EffectContext, 'refresh' | 'changeInterval'> {
	const {world, ports, broken} = properties;
	const {changeInterval, ...scanning} = useScanning(properties);
	const view = useLiveView(world, scanning, broken);
	useTick(world);
	useReport(world, broken);
	usePast(world, broken);
	useOutputPage();
	useHosts(world, ports);
	useJobs(ports, broken);
	const refresh = useCallback(() => {
		view.current?.refresh();
	}, [view]);
	return {refresh, changeInterval};
}

function useTerminalSize(): void {
	const dispatch = useDispatch();
	const {columns, rows} = useWindowSize();
	useEffect(() => {
		dispatch({kind: 'resized', size: {columns, rows}});
	}, [dispatch, columns, rows]);
}

function Monitor(properties: Properties): ReactElement {
	const {world, store, ports, waits, mouse, modes, quit, broken} = properties;
	const {refresh, changeInterval} = useLiveData(properties);
	useTerminalSize();
	const {suspend, lendTerminal, repaint} = useSuspend(modes);
	const {stdout} = useStdout();
	const targets = useMemo(createMouseTargets, []);
	const controller = useMemo(() => {
		const writeTerminal = (text: string): void => {
			stdout.write(text);
		};

		const runner = createCommandRunner({
			world,
			store,
			ports,
			waits,
			refresh,
			changeInterval,
			quit,
			lendTerminal,
			writeTerminal,
		});
		const refreshAll = (): void => {
			refresh();
			repaint();
		};

		return createController(store, runner, {quit, suspend, refresh: refreshAll, broken}, targets);
	}, [
		world,
		store,
		ports,
		waits,
		refresh,
		changeInterval,
		suspend,
		lendTerminal,
		repaint,
		quit,
		broken,
		stdout,
		targets,
	]);
	const isMouseOn = useMonitor((state) => state.isMouseOn === true);
	useEffect(() => {
		modes.setMouse(isMouseOn);
		mouse?.listen(isMouseOn ? controller.point : () => undefined);
	}, [mouse, modes, isMouseOn, controller]);
	useInput(controller.press);
	usePaste(controller.paste);
	return (
		<MouseContext value={targets}>
			<KeyContext value={controller.pressName}>
				<Screen />
			</KeyContext>
		</MouseContext>
	);
}

export function App(properties: Properties): ReactElement {
	return (
		<StoreContext value={properties.drawn ?? properties.store}>
			<Monitor {...properties} />
		</StoreContext>
	);
}
