/** `w`: reserves any GPUs, or the tagged ones, as soon as they are free. */
import {taggedGpus} from '../state/table/rows.js';
import {reserve, reserveForm} from './reserve.js';
import type {Verb} from './verb.js';

/** Its dialog is the one of `reserve`, which also performs it. */
export const wait: Verb = {
	...reserve,
	name: 'wait',
	keys: {modes: ['table', 'queue'], keys: ['w'], help: ['Queue and processes', 'wait for GPUs'], footer: ['w', 'Wait']},
	open(state) {
		const tagged = taggedGpus(state);
		return reserveForm(state, true, tagged.length > 0 ? tagged : undefined);
	},
};
