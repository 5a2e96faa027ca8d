/** `x` in the queue: leaves the queue. */
import type {ReactElement} from 'react';
import {wantedOf} from '../../core/rules/queue/eligible.js';
import type {QueueEntry} from '../../core/model/types.js';
import {leaveQueue} from '../../core/operations/waiting/leave-queue.js';
import {mayChange, ownerOf} from '../../core/rules/leases/ownership.js';
import {holdingsOf} from '../../core/rules/queue/queue.js';
import {shortDuration} from '../../format/text/durations.js';
import {gpuList} from '../../format/text/gpu-list.js';
import {holderText} from '../../format/owner.js';
import {shellCommand} from '../../format/text/shell.js';
import {sanitize} from '../../format/text/text.js';
import {wantedText} from '../../format/queue/waiting-progress.js';
import {Confirm} from '../dialogs/confirm.js';
import {selectedEntry} from '../state/queue/rows.js';
import {ask, type Confirmation} from '../state/dialogs.js';
import {latestOf} from '../state/pause.js';
import {storeNow, type State} from '../state/state.js';
import {useMonitor} from '../state/use-monitor.js';
import {Label} from '../widgets/label.js';
import {firstReason, reasonAgainstChange} from './reasons.js';
import {defineCommand, failed, succeeded} from './command.js';

function reasonAgainstSelected(state: State): string | undefined {
	const record = selectedEntry(state);
	if (record === undefined) {
		return 'The queue is empty: there is nothing to leave';
	}

	if (record.kind !== 'entry') {
		return 'This queue entry cannot be read. To see why: canhazgpu queue';
	}

	return mayChange(state.settings.requester, record.entry)
		? undefined
		: `That entry belongs to ${sanitize(ownerOf(record.entry))}: only its owner can cancel it`;
}

type EntryToLeave = {readonly entry: QueueEntry};

function LeaveDialog({dialog}: {readonly dialog: Confirmation<EntryToLeave>}): ReactElement {
	const {entry, isBusy} = dialog;
	const snapshot = useMonitor((state) => latestOf(state).snapshot);
	const held = snapshot === undefined ? [] : holdingsOf(snapshot, entry.id).map(({index}) => index);
	const now = useMonitor(storeNow) ?? entry.enqueueTime;
	return (
		<Confirm
			title="Leave the queue"
			question="Leave the queue?"
			warning={held.length > 0 ? `The GPUs held for it will be released: ${gpuList(held)}.` : undefined}
			isBusy={isBusy}
		>
			<Label tone="dim">
				{holderText(entry)}, for {wantedText(wantedOf(entry))}, waiting for {shortDuration(now - entry.enqueueTime)}
			</Label>
		</Confirm>
	);
}

export const leave = defineCommand<Confirmation<EntryToLeave>>({
	name: 'leave',
	keys: {
		modes: ['queue'],
		keys: ['x', 'ctrl-d'],
		help: ['Queue and processes', 'leave the queue'],
		footer: ['x', 'Leave'],
	},
	reasonAgainst: firstReason(reasonAgainstChange, reasonAgainstSelected),
	open(state) {
		const record = selectedEntry(state);
		if (record?.kind !== 'entry') {
			throw new TypeError('No position in the queue is selected');
		}

		return ask('leave', {entry: record.entry});
	},
	shellCommand: ({entry}) => shellCommand(['canhazgpu', 'queue', '--leave', entry.id]),
	async perform({world, waits, store}, {entry}) {
		waits.leaving(entry.id);
		const answer = await leaveQueue(world, store.getState().settings.requester, entry.id);
		if (answer.kind === 'left') {
			return succeeded(`left the queue${answer.freed.length > 0 ? ` and released ${gpuList(answer.freed)}` : ''}`);
		}

		return failed(
			answer.kind === 'not-yours'
				? `Did not leave: that entry belongs to ${sanitize(ownerOf(answer.entry))}`
				: 'Did not leave: that queue entry is already gone',
		);
	},
	Dialog: LeaveDialog,
});
