/** `x` over the table: gives the chosen GPUs back. */
import {release as releaseLeases} from '../../core/operations/reservations.js';
import {reasonAgainstUndo, undoableOf} from '../../core/operations/undo.js';
import {ownerOf, owns} from '../../core/rules/leases/ownership.js';
import {gpuList} from '../../format/text/gpu-list.js';
import {shellCommand} from '../../format/text/shell.js';
import {sanitize} from '../../format/text/text.js';
import {aboutAndWarning, dialogWidth, questionWidth} from '../widgets/dialog-parts.js';
import {ask, type Confirmation} from '../state/dialogs.js';
import {span, type Line} from '../widgets/styled-text.js';
import type {State} from '../state/state.js';
import {firstReason, reasonAgainstChange, reasonAgainstGpus} from './shared/reasons.js';
import {
	commandOn,
	otherGpusOf,
	outcomeOfTargets,
	reasonAgainstTargets,
	targetLines,
	targetNames,
	targetsOf,
	type Targets,
} from './shared/targets.js';
import {defineVerb} from './verb.js';

/** What a release of running jobs means. */
function jobWarning({targets, leftOut}: Targets): string | undefined {
	const jobs = targets.filter(({lease}) => reasonAgainstUndo(lease) !== undefined);
	if (jobs.length === 0) {
		return undefined;
	}

	if (targets.length + leftOut.length === 1) {
		return 'Its job keeps running; others may get its GPU. No undo.';
	}

	return jobs.length === 1
		? `The job on ${targetNames(jobs)} keeps running; others may get its GPU. No undo.`
		: `The jobs on ${targetNames(jobs)} keep running; others may get their GPUs. No undo.`;
}

/** Slurm knows jobs alone: with its GPUs a job is over. */
const slurmWarning = ({targets}: Targets): string =>
	new Set(targets.map(({lease}) => lease.leaseId)).size === 1
		? 'Slurm ends the whole job, with all that runs in it.'
		: 'Slurm ends the whole jobs, with all that runs in them.';

/** What stays when one GPU of a reservation is released. */
function restLines({targets}: Targets, others: readonly number[], {settings}: State): readonly Line[] {
	if (others.length === 0) {
		return [];
	}

	const [target] = targets;
	// Root may release what is another account's.
	const isOwn = target === undefined || owns(settings.requester, target.lease);
	const keeper = isOwn ? 'you keep' : `${sanitize(ownerOf(target.lease))} keeps`;
	return [[span(`Of the same reservation ${keeper} ${gpuList(others, 8)}`, 'dim')]];
}

export const release = defineVerb<Confirmation<Targets>>({
	name: 'release',
	keys: {modes: ['table'], keys: ['x', 'ctrl-d'], help: ['Reserve', 'release GPUs'], footer: ['x', 'Release']},
	reasonAgainst: firstReason(reasonAgainstChange, reasonAgainstGpus, (state) => reasonAgainstTargets(state, 'release')),
	open: (state) => ask('release', targetsOf(state, 'release')),
	command: (dialog) => shellCommand(commandOn('release', dialog)),
	async perform({world, store}, {targets, namedLeaseId}) {
		const {requester} = store.getState().settings;
		const {released, notYours} = await releaseLeases(world, requester, {by: 'leases', leases: targets});
		const done = released.map(({index}) => index);
		return {
			...outcomeOfTargets(
				{verb: 'released', targets, done, notYours},
				'',
				shellCommand(commandOn('release', {targets: released, namedLeaseId})),
			),
			undo: store.getState().settings.engine === undefined ? undoableOf(released) : [],
		};
	},
	view(dialog, state, glyphs) {
		const names = targetNames(dialog.targets);
		const isLong = dialog.targets.length + dialog.leftOut.length > 1;
		const width = isLong ? dialogWidth(state) : questionWidth(state);
		return {
			title: `Release ${names}`,
			width,
			lines: aboutAndWarning(
				[...targetLines(dialog, state, glyphs), ...restLines(dialog, otherGpusOf(dialog, state), state)],
				state.settings.engine === undefined ? jobWarning(dialog) : slurmWarning(dialog),
				width,
				glyphs,
			),
			question: `Release ${names} now?`,
		};
	},
});
