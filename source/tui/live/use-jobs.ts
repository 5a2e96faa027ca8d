import {useEffect, useMemo} from 'react';
import {createNextRead} from '../../core/live/live-view.js';
import {CanhazgpuError} from '../../errors.js';
import {sanitize} from '../../format/text/text.js';
import type {MonitorPorts} from '../ports.js';
import {useDispatch, useMonitor, useStore} from '../state/use-monitor.js';

/** Reads the jobs again while their panel is shown, each time that the pool was read. */
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
