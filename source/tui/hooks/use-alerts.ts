/** Tells the audit log what each scan of the monitor shows for the first time. */
import {useEffect, useMemo} from 'react';
import {createAlertRecorder} from '../../core/operations/record-alerts.js';
import type {World} from '../../core/model/ports.js';
import {storeNow, type State} from '../state/state.js';

/** A monitor that is read-only tells nothing. */
export function useAlerts(world: World, state: State, broken: (error: unknown) => void): void {
	const {snapshot, observation, connection, settings} = state;
	const tell = useMemo(() => createAlertRecorder(world), [world]);
	useEffect(() => {
		const now = storeNow(state);
		if (snapshot === undefined || now === undefined || observation === undefined) {
			return;
		}

		if (connection.kind === 'live' && !settings.isReadonly) {
			tell({...snapshot, now}, observation).catch(broken);
		}
		// By the scan alone: what else is in the state says nothing new of the GPUs.
	}, [observation]);
}
