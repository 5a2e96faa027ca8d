/** `q`: quits. Asks first if a request of this monitor is waiting in the queue. */
import {Confirm, quitQuestion} from '../dialogs/confirm.js';
import {panelNames} from '../state/panels/state.js';
import type {Confirmation} from '../state/dialogs.js';
import {Label} from '../widgets/label.js';
import {defineCommand, quitOrAsk} from './command.js';

/** The number of this monitor's requests in the queue. They leave the queue when the monitor quits. */
type Pending = {readonly waiting: number};

export const quit = defineCommand<Confirmation<Pending>>({
	name: 'quit',
	keys: {modes: [...panelNames, 'small'], keys: ['q'], help: ['Monitor', 'quit'], footer: ['q', 'Quit']},
	reasonAgainst: () => undefined,
	begin: quitOrAsk,
	async perform({quit: quitNow}) {
		quitNow();
		return undefined;
	},
	Dialog: ({dialog: {waiting, isBusy}}) => (
		<Confirm
			title="Quit"
			question={quitQuestion}
			warning="Quitting leaves the queue. To keep waiting, use a shell: canhazgpu reserve"
			isBusy={isBusy}
		>
			<Label tone="dim">
				{waiting} {waiting === 1 ? 'request waits' : 'requests wait'} in the queue from this monitor
			</Label>
		</Confirm>
	),
});
