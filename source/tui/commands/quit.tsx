/** `q`: quits. Asks first if a request of this monitor is waiting in the queue. */
import type {ReactElement} from 'react';
import {Confirm, quitQuestion} from '../dialogs/confirm.js';
import {panelNames} from '../state/panels/state.js';
import type {Confirmation} from '../state/dialogs.js';
import {useMonitor} from '../state/use-monitor.js';
import {Label} from '../widgets/label.js';
import {defineCommand, quitOrAsk} from './command.js';

/** Shows how many requests of this monitor are in the queue. They leave the queue when the monitor quits. */
function Waiting(): ReactElement {
	const count = useMonitor(({waits}) => waits.length);
	return (
		<Label tone="dim">
			{count} {count === 1 ? 'request waits' : 'requests wait'} in the queue from this monitor
		</Label>
	);
}

export const quit = defineCommand<Confirmation>({
	name: 'quit',
	keys: {modes: [...panelNames, 'small'], keys: ['q'], help: ['Monitor', 'quit'], footer: ['q', 'Quit']},
	reasonAgainst: () => undefined,
	begin: quitOrAsk,
	async perform({quit: quitNow}) {
		quitNow();
		return undefined;
	},
	Dialog: ({dialog: {isBusy}}) => (
		<Confirm
			title="Quit"
			question={quitQuestion}
			warning="Quitting leaves the queue. To keep waiting, use a shell: canhazgpu reserve"
			isBusy={isBusy}
		>
			<Waiting />
		</Confirm>
	),
});
