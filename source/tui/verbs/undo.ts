/** `z`: takes back a release of the last seconds. */
import type {Refusal} from '../../core/rules/allocation/allocation.js';
import {undoRelease} from '../../core/operations/undo.js';
import {gpuList} from '../../format/text/gpu-list.js';
import {blockWords} from '../../format/queue/refusal.js';
import {panelModes} from '../keys/binding.js';
import {firstReason, reasonAgainstChange} from './shared/reasons.js';
import {defineVerb, failed, halfDone, succeeded} from './verb.js';

/** `GPU 0,1 is held by bob`, once for all of which the same is to be said. */
function blockedWords(refused: readonly Refusal[]): readonly string[] {
	const blocked = refused.flatMap(({blocked: gpus, now}) =>
		gpus.map(({index, block}) => ({index, words: blockWords(block, now)})),
	);
	return Array.from(
		Map.groupBy(blocked, ({words}) => words),
		([words, gpus]) => `GPU ${gpus.map(({index}) => index).join(',')} ${words}`,
	);
}

export const undo = defineVerb({
	name: 'undo',
	keys: {modes: panelModes, keys: ['z'], help: ['Reserve', 'undo a release (10 s)']},
	reasonAgainst: firstReason(reasonAgainstChange, (state) =>
		state.undo === undefined ? 'Nothing to undo' : undefined,
	),
	async perform({world, store: {getState, dispatch}}) {
		const {undo: undoable, settings} = getState();
		// Once only, however often the key is pressed.
		dispatch({kind: 'undo-began'});
		const {undone, refused, over} = await undoRelease(world, settings.requester, undoable!.released);
		const back = undone.flatMap(({gpus}) => gpus).toSorted((a, b) => a - b);
		const late = over.length > 0 ? [`the reservation of ${gpuList(over)} has expired meanwhile`] : [];
		const reasons = [...blockedWords(refused), ...late].join(', ');
		if (back.length === 0) {
			return failed(`Not undone: ${reasons}`);
		}

		const text = `reserved ${gpuList(back)} again, until the same time as before`;
		return reasons === '' ? succeeded(text) : halfDone(`${text}, but ${reasons}`);
	},
});
