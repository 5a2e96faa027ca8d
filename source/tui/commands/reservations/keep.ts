/** `E`: keeps the user's idle GPUs, which would otherwise go back to the pool. */
import {extend as extendLeases} from '../../../core/operations/reservations.js';
import {offeredKeepSeconds} from '../../../core/rules/policy/idle-rules.js';
import {longDuration, typedDuration} from '../../../format/text/durations.js';
import {ownIdleGpus} from '../../state/gpus/idle.js';
import {panelNames} from '../../state/panels/state.js';
import {firstReason, reasonAgainstChange} from '../reasons.js';
import {defineCommand} from '../command.js';
import {outcomeOfTargets} from './targets.js';

export const keep = defineCommand({
	name: 'keep',
	keys: {modes: panelNames, keys: ['E'], help: ['Reserve', 'keep my idle GPUs'], footer: ['E', 'Keep']},
	footerWord: ({snapshot}) => snapshot && `Keep ${typedDuration(offeredKeepSeconds(snapshot))}`,
	isOffered: (state) => ownIdleGpus(state).length > 0,
	reasonAgainst: firstReason(reasonAgainstChange, (state) =>
		ownIdleGpus(state).length === 0
			? 'None of your GPUs is about to go back to the pool. To keep GPUs in advance, type :extend --keep 2h'
			: undefined,
	),
	async perform({world, store}) {
		const state = store.getState();
		const targets = ownIdleGpus(state).toSorted((a, b) => a.index - b.index);
		const keepSeconds = offeredKeepSeconds(state.snapshot!);
		const {extended, notYours} = await extendLeases(
			world,
			state.settings.requester,
			{by: 'leases', leases: targets},
			{atLeast: keepSeconds, keepSeconds},
		);
		return outcomeOfTargets('extend', {
			word: 'kept',
			targets,
			changed: extended,
			notYours,
			addition: ` for ${longDuration(keepSeconds)} even if idle`,
			flags: ['--keep', typedDuration(keepSeconds)],
		});
	},
});
