/** Keeps what is known of the other hosts up to date, for as long as their table is shown. */
import {useEffect} from 'react';
import type {World} from '../../core/model/ports.js';
import type {MonitorPorts} from '../ports.js';
import type {Dispatch} from '../state/actions.js';
import type {State} from '../state/state.js';

export function useHosts(
	{clock}: Pick<World, 'clock'>,
	{hosts}: MonitorPorts,
	{panels, settings}: State,
	dispatch: Dispatch,
): void {
	const isShown = panels.focus === 'hosts' && (settings.otherHosts?.length ?? 0) > 0;
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
