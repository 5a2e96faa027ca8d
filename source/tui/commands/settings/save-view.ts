/** `S`: saves the preset, the columns, and whether rows are folded, in the user's config. */
import {panelNames} from '../../state/panels/state.js';
import {noConfig, savedOutcome} from '../shared/saving.js';
import {defineCommand} from '../command.js';

const foldText = (isFolded: boolean | undefined): string =>
	isFolded === undefined ? '' : isFolded ? ', folded' : ', unfolded';

export const saveView = defineCommand({
	name: 'save-view',
	keys: {
		modes: [...panelNames, 'columns'],
		keys: ['S'],
		help: ['Panels', 'preset, columns, save'],
	},
	reasonAgainst: () => undefined,
	async perform({store, ports}) {
		const {preset, columns, isFolded} = store.getState().view;
		if (ports.saveView === undefined) {
			return noConfig;
		}

		return savedOutcome(
			await ports.saveView({preset, columns, isFolded}),
			`preset ${preset}, ${columns === undefined ? 'usual' : 'chosen'} columns${foldText(isFolded)}`,
		);
	},
});
