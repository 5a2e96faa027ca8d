/** Enter in the options dialog: applies the chosen options until the monitor ends. */
import {changesText} from '../../state/view/options.js';
import {applyOptions} from '../shared/options.js';
import {defineCommand, succeeded} from '../command.js';

export const applyChosenOptions = defineCommand({
	name: 'apply-options',
	keys: {modes: ['options'], keys: ['enter'], footer: ['Enter', 'Apply']},
	reasonAgainst: () => undefined,
	async perform(context) {
		const {getState, dispatch} = context.store;
		const {dialog} = getState();
		if (dialog?.kind !== 'options') {
			return undefined;
		}

		const changes = changesText(getState(), dialog.values);
		await applyOptions(context, dialog.values, dialog.chosen);
		dispatch({kind: 'put-away', dialog});
		return changes === '' ? undefined : succeeded(`Until this monitor ends: ${changes}`);
	},
});
