/** `S` in the options dialog: applies the options and saves those that the user has changed in the user's config. */
import {savedOptions} from '../../state/view/options.js';
import {applyOptions} from '../shared/options.js';
import {noConfig, savedOutcome} from '../shared/saving.js';
import {defineCommand, halfDone} from '../command.js';

export const keepOptions = defineCommand({
	name: 'keep-options',
	keys: {modes: ['options'], keys: ['S'], footer: ['S', 'Keep']},
	reasonAgainst: () => undefined,
	async perform(context) {
		const {store, ports} = context;
		const {dialog} = store.getState();
		if (dialog?.kind !== 'options') {
			return undefined;
		}

		if (ports.saveOptions === undefined) {
			return noConfig;
		}

		if (dialog.chosen.size === 0) {
			return halfDone('Nothing to save: change an option first');
		}

		await applyOptions(context, dialog.values, dialog.chosen);
		const {values, text} = savedOptions(store.getState());
		const saved = await ports.saveOptions(values);
		store.dispatch({kind: 'put-away', dialog});
		return savedOutcome(saved, text);
	},
});
