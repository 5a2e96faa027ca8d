/** `x` in the GPU table: releases the chosen GPUs. */
import type {ReactElement} from 'react';
import {release as releaseLeases} from '../../../core/operations/reservations.js';
import {reasonAgainstUndo, undoableOf} from '../../../core/operations/undo.js';
import {ownerOf, owns} from '../../../core/rules/leases/ownership.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {shellCommand} from '../../../format/text/shell.js';
import {sanitize} from '../../../format/text/text.js';
import {Confirm} from '../../dialogs/confirm.js';
import {ask, type Confirmation} from '../../state/dialogs.js';
import {useSettings, useStore} from '../../state/use-monitor.js';
import {Label} from '../../widgets/label.js';
import {firstReason, reasonAgainstChange, reasonAgainstGpus} from '../reasons.js';
import {defineCommand} from '../command.js';
import {
	commandOn,
	otherGpusOf,
	outcomeOfTargets,
	reasonAgainstTargets,
	targetPlaces,
	targetsOf,
	type Targets,
} from './targets.js';
import {OtherReservations, TargetList} from './target-list.js';

function jobWarning({targets, leftOut}: Targets): string | undefined {
	const jobs = targets.filter(({lease}) => reasonAgainstUndo(lease) !== undefined);
	if (jobs.length === 0) {
		return undefined;
	}

	if (targets.length + leftOut.length === 1) {
		return 'Its job keeps running; others may get its GPU. No undo.';
	}

	return jobs.length === 1
		? `The job on ${targetPlaces(jobs)} keeps running; others may get its GPU. No undo.`
		: `The jobs on ${targetPlaces(jobs)} keep running; others may get their GPUs. No undo.`;
}

const slurmWarning = ({targets}: Targets): string =>
	new Set(targets.map(({lease}) => lease.leaseId)).size === 1
		? 'Slurm ends the whole job and everything that runs in it.'
		: 'Slurm ends the whole jobs and everything that runs in them.';

/** Names the GPUs that stay reserved if only one GPU of a reservation is released. */
function Rest({
	targets,
	others,
}: Pick<Targets, 'targets'> & {readonly others: readonly number[]}): ReactElement | undefined {
	const {requester} = useSettings();
	const [target] = targets;
	if (others.length === 0) {
		return undefined;
	}

	// If root releases a GPU of another account, that account keeps the other GPUs.
	const isOwn = target === undefined || owns(requester, target.lease);
	const keeper = isOwn ? 'you keep' : `${sanitize(ownerOf(target.lease))} keeps`;
	return (
		<Label tone="dim">
			Of the same reservation {keeper} {gpuList(others, 8)}
		</Label>
	);
}

function ReleaseDialog({dialog}: {readonly dialog: Confirmation<Targets>}): ReactElement {
	const {engine} = useSettings();
	const {getState} = useStore();
	const names = targetPlaces(dialog.targets);
	return (
		<Confirm
			title={`Release ${names}`}
			question={`Release ${names} now?`}
			warning={engine === undefined ? jobWarning(dialog) : slurmWarning(dialog)}
			isBusy={dialog.isBusy}
			isWide={dialog.targets.length + dialog.leftOut.length > 1}
		>
			<TargetList {...dialog} />
			<OtherReservations action="release" {...dialog} />
			<Rest targets={dialog.targets} others={otherGpusOf(dialog, getState())} />
		</Confirm>
	);
}

export const release = defineCommand<Confirmation<Targets>>({
	name: 'release',
	keys: {modes: ['gpus'], keys: ['x', 'ctrl-d'], help: ['Reserve', 'release GPUs'], footer: ['x', 'Release']},
	reasonAgainst: firstReason(reasonAgainstChange, reasonAgainstGpus, (state) => reasonAgainstTargets(state, 'release')),
	open: (state) => ask('release', targetsOf(state, 'release')),
	shellCommand: (dialog) => shellCommand(commandOn('release', dialog)),
	async perform({world, store}, dialog) {
		const {requester, engine} = store.getState().settings;
		const {released, notYours} = await releaseLeases(world, requester, {by: 'leases', leases: dialog.targets});
		return {
			...outcomeOfTargets('release', {...dialog, word: 'released', changed: released, notYours}),
			undo: engine === undefined ? undoableOf(released) : [],
		};
	},
	Dialog: ReleaseDialog,
});
