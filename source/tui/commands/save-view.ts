/** `S`: saves the preset, the columns and the folding in the user's config. */
import {sanitize} from '../../format/text/text.js';
import {panelNames} from '../state/panels/state.js';
import {defineCommand, succeeded} from './command.js';

const foldText = (isFolded: boolean | undefined): string =>
	isFolded === undefined ? '' : isFolded ? ', folded' : ', unfolded';

export const saveView = defineCommand({
	name: 'save-view',
	keys: {
		modes: [...panelNames, 'columns'],
		keys: ['S'],
		help: ['Panels', 'preset, columns, keep'],
	},
	reasonAgainst: () => undefined,
	async perform({store, ports}) {
		const {preset, columns, isFolded} = store.getState().view;
		if (ports.saveView === undefined) {
			return {kind: 'refused', complaint: {message: 'This monitor has no config to keep them in'}};
		}

		const {file, isChanged} = await ports.saveView({preset, columns, isFolded});
		return succeeded(
			isChanged
				? `Kept in ${sanitize(file)}: preset ${preset}, ${columns === undefined ? 'usual' : 'chosen'} columns${foldText(isFolded)}`
				: `${sanitize(file)} needs no change: the next monitor begins so`,
		);
	},
});
