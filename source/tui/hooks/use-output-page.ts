/** Keeps what goes on up to date, for as long as it is shown. */
import {useEffect} from 'react';
import type {State} from '../state/state.js';
import type {Dispatch} from '../state/actions.js';

export function useOutputPage({dialog}: State, dispatch: Dispatch): void {
	const liveOutput = dialog?.kind === 'output' ? dialog.liveOutput : undefined;
	useEffect(
		() =>
			liveOutput?.begin((page) => {
				dispatch({kind: 'page-came', liveOutput, page});
			}),
		[liveOutput, dispatch],
	);
}
