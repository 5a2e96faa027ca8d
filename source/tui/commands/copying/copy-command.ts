/** `y` in the process table: copies the command of the selected process. */
import {processText} from '../../../format/readings.js';
import {sanitize} from '../../../format/text/text.js';
import {selectedProcess} from '../../state/processes/rows.js';
import {toClipboard} from '../shared/clipboard.js';
import {defineCommand} from '../command.js';

export const copyCommand = defineCommand({
	name: 'copy-command',
	keys: {
		modes: ['processes'],
		keys: ['y'],
		help: ['Queue and processes', 'copy its command'],
		footer: ['y', 'Copy', 3],
	},
	reasonAgainst: (state) => (selectedProcess(state) === undefined ? 'No process is shown' : undefined),
	begin(context) {
		const {getState, dispatch} = context.store;
		const {process} = selectedProcess(getState())!;
		// Copies the command line as shown: without secrets, and without control characters, which a shell would interpret.
		const command = sanitize(process.commandLine ?? '');
		toClipboard(context, command === '' ? processText(process) : command);
		const text = `Copied the command of process ${process.pid} (if your terminal allows OSC 52)`;
		dispatch({kind: 'done', flash: {level: 'ok', text}});
	},
});
