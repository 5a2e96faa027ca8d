import {useEffect, useRef, useMemo, type RefObject} from 'react';
import {startLiveView, createNextRead, type LiveView} from '../../core/live/live-view.js';
import type {World} from '../../core/model/ports.js';
import {CanhazgpuError} from '../../errors.js';
import {sanitize} from '../../format/text/text.js';
import type {MonitorPorts} from '../ports.js';
import {mostEvents} from '../state/state.js';
import {useDispatch, useMonitor, useStore} from '../state/use-monitor.js';
import type {Scanning} from './use-scanning.js';

/** Keeps the state up to date with the pool, the GPU readings and the audit log. */
export function useLiveView(
	world: World,
	{watched, scanIntervalMs}: Scanning,
	broken: (error: unknown) => void,
): RefObject<LiveView | undefined> {
	const dispatch = useDispatch();
	const isReadonly = useMonitor(({settings}) => settings.isReadonly);
	const hasNoPool = useMonitor(({settings}) => settings.hasNoPool);
	const view = useRef<LiveView>(undefined);
	useEffect(() => {
		if (hasNoPool === true) {
			return undefined;
		}

		const nowMs = (): number => world.clock.monotonicMs();
		const started = startLiveView(world, {
			watched,
			intervals: {watchedMs: scanIntervalMs, unwatchedMs: scanIntervalMs},
			mostEvents,
			// A read-only monitor does not write to the audit log.
			recordsAlerts: !isReadonly,
			broken,
		});
		view.current = started;
		started.subscribe(({now, snapshot, lastScan, lost, events, eventsProblem}, change) => {
			if (change === 'snapshot' && snapshot !== undefined) {
				dispatch({kind: 'snapshot-arrived', snapshot, nowMs: nowMs()});
			} else if (change === 'store-lost' && lost !== undefined) {
				const ageMs = (now - lost.since) * 1000;
				dispatch({kind: 'store-lost', reason: lost.reason, nowMs: nowMs(), sinceMs: nowMs() - ageMs});
			} else if (change === 'scan' && lastScan !== undefined) {
				dispatch({kind: 'scan-arrived', observation: lastScan, nowMs: nowMs()});
			} else if (change === 'events') {
				dispatch(
					eventsProblem === undefined
						? {kind: 'events-arrived', entries: events}
						: {kind: 'events-lost', reason: eventsProblem},
				);
			}
		});
		return started.stop;
	}, [world, watched, scanIntervalMs, isReadonly, hasNoPool, dispatch, broken]);
	return view;
}

/** Keeps the other hosts up to date while their table is shown. */
export function useHosts({clock}: Pick<World, 'clock'>, {hosts}: MonitorPorts): void {
	const dispatch = useDispatch();
	const isShown = useMonitor(
		({panels, settings}) => panels.focus === 'hosts' && (settings.otherHosts?.length ?? 0) > 0,
	);
	useEffect(
		() =>
			isShown
				? hosts?.watch((known) => {
						dispatch({kind: 'hosts-arrived', known, nowMs: clock.monotonicMs()});
					})
				: undefined,
		[clock, hosts, isShown, dispatch],
	);
}

/** Keeps an output that updates itself, such as that of `:events --follow`, up to date while it is shown. */
export function useOutputPage(): void {
	const dispatch = useDispatch();
	const liveOutput = useMonitor(({dialog}) => (dialog?.kind === 'output' ? dialog.liveOutput : undefined));
	useEffect(
		() =>
			liveOutput?.begin((page) => {
				dispatch({kind: 'page-came', liveOutput, page});
			}),
		[liveOutput, dispatch],
	);
}

/** Sets the clock of the state if nothing else has changed the state for a second. All other changes set the clock themselves. */
export function useTick({clock}: Pick<World, 'clock'>): void {
	const dispatch = useDispatch();
	const nowMs = useMonitor((state) => state.nowMs);
	useEffect(() => {
		const timer = setInterval(() => {
			dispatch({kind: 'ticked', nowMs: clock.monotonicMs()});
		}, 1000);
		return () => {
			clearInterval(timer);
		};
	}, [clock, nowMs, dispatch]);
}

/** While the panel of jobs is shown, reads the jobs each time the pool was read. */
export function useJobs({jobs}: MonitorPorts, broken: (error: unknown) => void): void {
	const dispatch = useDispatch();
	const {getState} = useStore();
	const shown = useMonitor(({panels, snapshot}) => (panels.focus === 'jobs' ? snapshot : undefined));
	const readNext = useMemo(() => jobs && createNextRead(jobs.read), [jobs]);
	useEffect(() => {
		const read = async (): Promise<void> => {
			try {
				dispatch({kind: 'jobs-arrived', jobs: {rows: await readNext!()}});
			} catch (error) {
				if (!(error instanceof CanhazgpuError)) {
					broken(error);
					return;
				}

				const rows = getState().seenJobs?.rows ?? [];
				dispatch({kind: 'jobs-arrived', jobs: {rows, problem: sanitize(error.message)}});
			}
		};

		if (shown !== undefined && readNext !== undefined) {
			void read();
		}
	}, [shown, readNext, dispatch, getState, broken]);
}
