import {useCallback, useEffect, useRef, useState} from 'react';
import type {Watched} from '../../core/live/scan-loop.js';
import type {GpuProvider, World} from '../../core/model/ports.js';
import type {MonitorPorts} from '../ports.js';
import type {EffectContext} from '../commands/command.js';

export type Scanning = {
	readonly watched: Watched;
	readonly scanIntervalMs: number;
};

type Options = Scanning & {
	readonly world: World;
	readonly ports: MonitorPorts;
	readonly broken: (error: unknown) => void;
};

/** Returns the provider whose GPUs are shown, the scan interval, and a function that changes the interval. */
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
	const newest = useRef(initial.watched.gpus);
	const replaced = useRef(new Set<GpuProvider>());
	const lastChange = useRef(Promise.resolve());
	const changeInterval = useCallback(
		async (intervalMs: number) => {
			const change = async (): Promise<void> => {
				const gpus = (await ports.watchGpus?.(intervalMs)) ?? newest.current;
				replaced.current.add(newest.current).delete(gpus);
				newest.current = gpus;
				setScanning(({watched: before}) => ({watched: {...before, gpus}, scanIntervalMs: intervalMs}));
			};

			// Makes changes one after another, so that the last change wins.
			const changed = lastChange.current.then(change);
			lastChange.current = changed.catch(() => undefined);
			return changed;
		},
		[ports],
	);
	const {gpus} = watched;
	// Closes replaced providers after React has stopped their scans. Keeps the world's own provider open, because commands still use it.
	useEffect(() => {
		for (const provider of replaced.current) {
			replaced.current.delete(provider);
			if (provider !== world.gpus) {
				provider.close?.().catch(broken);
			}
		}
	}, [gpus, world, broken]);
	return {watched, scanIntervalMs, changeInterval};
}
