/** `l` in the jobs: shows the end of the selected job's output, and what is added to it. */
import {sanitize} from '../../../format/text/text.js';
import {jobTable} from '../../state/jobs/rows.js';
import type {State} from '../../state/state.js';
import {noRowIn} from '../../state/table/table.js';
import {openLiveOutput} from '../shared/live-output.js';
import {defineCommand, warning} from '../command.js';

function reasonAgainst(state: State): string | undefined {
	const job = jobTable.selected(state);
	if (job === undefined) {
		return noRowIn(jobTable, state);
	}

	return job.account === state.settings.requester.account
		? undefined
		: `Job ${sanitize(job.id)} belongs to ${sanitize(job.account)}: only its owner can read its output`;
}

export const showLog = defineCommand({
	name: 'show-log',
	keys: {
		modes: ['jobs'],
		keys: ['l', 'enter'],
		help: ['Queue and processes', 'output of the job'],
		footer: ['l', 'Log', 1],
	},
	reasonAgainst,
	begin(context) {
		const {store, ports} = context;
		const {id} = jobTable.selected(store.getState())!;
		if (ports.commandLine === undefined || !openLiveOutput(context, ports.commandLine, `logs ${id}`)) {
			store.dispatch(warning('This monitor cannot show the output of jobs'));
		}
	},
});
