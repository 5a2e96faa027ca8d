/** `S`: keeps the preset and the columns in the user's config, so that the next monitor begins with them. */
import {sanitize} from '../../format/text/text.js';
import {panelModes} from '../keys/binding.js';
import {defineVerb, succeeded} from './verb.js';

export const saveView = defineVerb({
	name: 'save-view',
	keys: {
		modes: [...panelModes, 'columns'],
		keys: ['S'],
		help: ['Panels', 'preset, columns, keep'],
	},
	reasonAgainst: () => undefined,
	async perform({store, ports}) {
		const {preset, columns} = store.getState().view;
		if (ports.saveView === undefined) {
			return {kind: 'refused', complaint: {message: 'This monitor has no config to keep them in'}};
		}

		const {file, isChanged} = await ports.saveView({preset, columns});
		return succeeded(
			isChanged
				? `Kept in ${sanitize(file)}: preset ${preset}, ${columns === undefined ? 'usual' : 'chosen'} columns`
				: `${sanitize(file)} says so already`,
		);
	},
});
