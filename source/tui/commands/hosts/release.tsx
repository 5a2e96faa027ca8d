/** `x` in the host table: releases the selected GPU. On other hosts, this is done by ssh. */
import type {ReactElement} from 'react';
import {gpuList} from '../../../format/text/gpu-list.js';
import {shellCommand} from '../../../format/text/shell.js';
import {sanitize} from '../../../format/text/text.js';
import {ask, type Confirmation} from '../../state/dialogs.js';
import type {GpuLine} from '../../state/hosts/lines.js';
import {Confirm} from '../../dialogs/confirm.js';
import {Label} from '../../widgets/label.js';
import {release} from '../reservations/release.js';
import {defineCommand, succeeded} from '../command.js';
import {changeOnHost} from './answer.js';
import {byHost, gpusOfReservation, nodesOf, remoteHolding, reasonAgainstHeld, type RemoteHolding} from './target.js';

type RemoteRelease = RemoteHolding & {
	readonly isJob: boolean;
	/** Whether the host belongs to a cluster. A cluster can only release all GPUs of a job. */
	readonly isOfCluster: boolean;
};

const wordsOf = ({gpus, label, leaseId}: RemoteHolding): readonly string[] => [
	'--gpu-ids',
	gpus.join(','),
	...(leaseId === undefined ? (label === undefined ? [] : ['--user', label]) : ['--lease', leaseId]),
];

const shellCommandOf = (held: RemoteHolding): string =>
	shellCommand(['canhazgpu', 'release', '--on', held.host, ...wordsOf(held)]);

function RemoteReleaseDialog({dialog}: {readonly dialog: Confirmation<RemoteRelease>}): ReactElement {
	const {host, gpus, isJob, isOfCluster, isBusy} = dialog;
	const name = `${gpuList(gpus)} of ${sanitize(host)}`;
	const warning = isOfCluster
		? 'Slurm ends the whole job and everything that runs in it.'
		: isJob
			? 'Its job keeps running; others may get its GPU. No undo.'
			: 'There is no undo on another host.';
	return (
		<Confirm title={`Release ${name}`} question={`Release ${name} now?`} warning={warning} isBusy={isBusy}>
			<Label tone="dim">The host releases only this reservation, no later one.</Label>
		</Confirm>
	);
}

export const releaseOverHosts = defineCommand<Confirmation<RemoteRelease>>({
	name: 'release-here',
	keys: {modes: ['hosts'], keys: ['x', 'ctrl-d'], footer: ['x', 'Release']},
	...byHost({
		own: release,
		reasonAgainst: (line) => reasonAgainstHeld(line, 'release'),
		open(line, state) {
			const isOfCluster = nodesOf(state, line.host) !== undefined;
			return ask('release-here', {
				...remoteHolding(line as GpuLine, isOfCluster ? gpusOfReservation(state, line as GpuLine) : undefined),
				isJob: (line as GpuLine).gpu.reservation_type === 'run',
				isOfCluster,
			});
		},
	}),
	shellCommand: shellCommandOf,
	async perform(context, dialog) {
		const done = `released ${gpuList(dialog.gpus)} of ${sanitize(dialog.host)}`;
		const words = (held: RemoteHolding) => ['release', ...wordsOf(held)];
		return changeOnHost(context, dialog, words, succeeded(done, shellCommandOf(dialog)));
	},
	Dialog: RemoteReleaseDialog,
});
