/** `q`: ends the monitor, and asks first while a request waits in the queue from here. */
import {aboutAndWarning, questionWidth} from '../widgets/dialog-parts.js';
import {panelNames} from '../state/panels/state.js';
import {ask, type Confirmation} from '../state/dialogs.js';
import {span} from '../widgets/styled-text.js';
import {defineVerb} from './verb.js';

/** How many requests wait. They leave the queue with the monitor. */
type Pending = {readonly waiting: number};

export const quit = defineVerb<Confirmation<Pending>>({
	name: 'quit',
	keys: {modes: panelNames, keys: ['q'], help: ['Monitor', 'quit'], footer: ['q', 'Quit']},
	reasonAgainst: () => undefined,
	begin({store: {getState, dispatch}, quit: quitNow}) {
		const {waits} = getState();
		if (waits.length === 0) {
			quitNow();
			return;
		}

		dispatch({kind: 'opened', dialog: ask('quit', {waiting: waits.length})});
	},
	async perform({quit: quitNow}) {
		quitNow();
		return undefined;
	},
	view({waiting}, state, glyphs) {
		const about = `${waiting} ${waiting === 1 ? 'request waits' : 'requests wait'} in the queue from this monitor`;
		const width = questionWidth(state);
		return {
			title: 'Quit',
			width,
			lines: aboutAndWarning(
				[[span(about, 'dim')]],
				'Quitting leaves the queue. To keep waiting, use a shell: canhazgpu reserve',
				width,
				glyphs,
			),
			question: 'Leave the queue and quit?',
		};
	},
});
