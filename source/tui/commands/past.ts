/** `o`: shows the events of the selected GPU, newest first. */
import {eventLine} from '../../format/events.js';
import {selectedGpu} from '../state/gpus/rows.js';
import {storeNow} from '../state/state.js';
import {firstReason, reasonAgainstGpus} from './reasons.js';
import {defineCommand} from './command.js';

const mostSearched = 2000;

export const past = defineCommand({
	name: 'past',
	keys: {modes: ['gpus', 'detail'], keys: ['o'], help: ['GPUs and processes', 'history of the GPU']},
	reasonAgainst: firstReason(reasonAgainstGpus, (state) =>
		storeNow(state) === undefined ? 'The pool has not been read yet' : undefined,
	),
	async perform({world, store}) {
		const state = store.getState();
		const gpu = selectedGpu(state);
		const entries = await world.store.audit({newest: mostSearched});
		const lines = entries.filter(({gpus}) => gpus.includes(gpu!)).map((entry) => eventLine(entry, storeNow(state)!));
		return lines.length === 0
			? {kind: 'done', flash: {level: 'ok', text: `There are no recorded events for GPU ${gpu}`}}
			: {kind: 'printed', title: `What happened to GPU ${gpu}`, lines: lines.toReversed()};
	},
});
