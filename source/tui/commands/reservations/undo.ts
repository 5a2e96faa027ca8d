/** `z`: undoes a release within a few seconds. */
import {undoRelease} from '../../../core/operations/undo.js';
import {undoneText} from '../../../format/queue/outcome.js';
import {panelNames} from '../../state/panels/state.js';
import {firstReason, reasonAgainstChange} from '../reasons.js';
import {defineCommand, failed, succeeded, warning} from '../command.js';

const answers = {all: succeeded, some: warning, none: failed} as const;

export const undo = defineCommand({
	name: 'undo',
	keys: {modes: panelNames, keys: ['z'], help: ['Reserve', 'undo a release (10 s)']},
	reasonAgainst: firstReason(reasonAgainstChange, ({undo: undoable, settings}) =>
		settings.engine === undefined
			? undoable === undefined
				? 'Nothing to undo'
				: undefined
			: 'On Slurm, a release cannot be undone: reserve again with r',
	),
	async perform({world, store: {getState, dispatch}}) {
		const {undo: undoable, settings} = getState();
		// Forgets the release, so that it is not undone twice.
		dispatch({kind: 'undo-began'});
		try {
			const {text, done} = undoneText(await undoRelease(world, settings.requester, undoable!.released));
			return answers[done](text);
		} catch (error) {
			dispatch({kind: 'undo-failed', released: undoable!.released});
			throw error;
		}
	},
});
