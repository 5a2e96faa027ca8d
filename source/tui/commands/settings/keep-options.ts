/** `S` in the options dialog: applies the chosen options and saves them in the user's config. */
import {savedOptions} from '../../state/view/options.js';
import {applyOptions} from '../shared/options.js';
import {noConfig, savedOutcome} from '../shared/saving.js';
import {defineCommand} from '../command.js';

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

		await applyOptions(context, dialog.values);
		const {values, text} = savedOptions(store.getState());
		const saved = await ports.saveOptions(values);
		store.dispatch({kind: 'put-away', dialog});
		return savedOutcome(saved, text);
	},
});
