import {useCallback, useEffect, useRef, useState} from 'react';
import type {Watched} from '../../core/live/scan-loop.js';
import type {World} from '../../core/model/ports.js';
import type {MonitorPorts} from '../ports.js';
import type {EffectContext} from '../commands/command.js';

type Scanning = {
	readonly watched: Watched;
	readonly scanIntervalMs: number;
};

type Options = Scanning & {
	readonly world: World;
	readonly ports: MonitorPorts;
	readonly broken: (error: unknown) => void;
};

/** Returns the provider whose GPUs are shown and its interval, with a function that changes the interval. */
export function useScanning({
	world,
	ports,
	broken,
	...initial
}: Options): Scanning & Pick<EffectContext, 'changeInterval'> {
	const [{watched, scanIntervalMs}, setScanning] = useState<Scanning>({
		watched: initial.watched,
		scanIntervalMs: initial.scanIntervalMs,
	});
	const changeInterval = useCallback(
		async (intervalMs: number) => {
			const gpus = await ports.watchGpus?.(intervalMs);
			setScanning(({watched: before}) => ({
				watched: gpus === undefined || gpus === before.gpus ? before : {...before, gpus},
				scanIntervalMs: intervalMs,
			}));
		},
		[ports],
	);
	const {gpus} = watched;
	const shown = useRef(gpus);
	// Closes the previous provider after React has stopped its scans. Keeps the world's own provider open, because commands still use it.
	useEffect(() => {
		const before = shown.current;
		shown.current = gpus;
		if (before !== gpus && before !== world.gpus) {
			before.close?.().catch(broken);
		}
	}, [gpus, world, broken]);
	return {watched, scanIntervalMs, changeInterval};
}
