/** Keeps what is known of the other hosts up to date, for as long as their table is shown. */
import {useEffect} from 'react';
import type {MonitorPorts} from '../ports.js';
import type {Dispatch} from '../state/actions.js';
import type {State} from '../state/state.js';

export function useHosts({hosts}: MonitorPorts, {panels, settings}: State, dispatch: Dispatch): void {
	const isShown = panels.focus === 'hosts' && (settings.otherHosts?.length ?? 0) > 0;
	useEffect(
		() =>
			isShown
				? hosts?.watch((known) => {
						dispatch({kind: 'hosts-arrived', known});
					})
				: undefined,
		[hosts, isShown, dispatch],
	);
}
