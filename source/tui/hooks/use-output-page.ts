/** Keeps what goes on up to date, for as long as it is shown. */
import {useEffect} from 'react';
import type {State} from '../state/state.js';
import type {Dispatch} from '../state/actions.js';

export function useOutputPage({dialog}: State, dispatch: Dispatch): void {
	const look = dialog?.kind === 'output' ? dialog.look : undefined;
	useEffect(
		() =>
			look?.begin((page) => {
				dispatch({kind: 'looked', look, page});
			}),
		[look, dispatch],
	);
}
