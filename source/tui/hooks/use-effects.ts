/** The hook that ties the keys to what they do. */
import {useMemo, type RefObject} from 'react';
import {useStdout} from 'ink';
import type {World} from '../../core/model/ports.js';
import type {LiveView} from '../../core/live/live-view.js';
import {createController, type Controller} from '../controller.js';
import type {MonitorPorts} from '../ports.js';
import type {StateStore} from '../state/store.js';
import {createVerbRunner} from '../verbs/dispatch.js';
import type {EffectContext} from '../verbs/verb.js';
import type {Waits} from '../verbs/shared/waiting.js';

type Options = {
	readonly world: World;
	readonly store: StateStore;
	readonly ports: MonitorPorts;
	readonly waits: Waits;
	readonly view: RefObject<LiveView | undefined>;
	readonly suspend: () => void;
	readonly lendTerminal: EffectContext['lendTerminal'];
	readonly quit: () => void;
	readonly broken: (error: unknown) => void;
};

export function useController(options: Options): Controller {
	const {world, store, ports, waits, view, suspend, lendTerminal, quit, broken} = options;
	const {stdout} = useStdout();
	return useMemo(() => {
		const refresh = (): void => {
			view.current?.refresh();
		};

		const writeTerminal = (text: string): void => {
			stdout.write(text);
		};

		const runner = createVerbRunner({world, store, ports, waits, refresh, quit, lendTerminal, writeTerminal});
		return createController(store, runner, {quit, suspend, refresh, broken});
	}, [world, store, ports, waits, view, suspend, lendTerminal, quit, broken, stdout]);
}
