/** `e` in the host table: extends the selected reservation. On other hosts, this is done by ssh. */
import {longDuration, typedDuration} from '../../../format/text/durations.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {shellCommand} from '../../../format/text/shell.js';
import {sanitize} from '../../../format/text/text.js';
import {secondsOf, valueOf} from '../../state/form.js';
import {Form as FormDialog} from '../../dialogs/form.js';
import {formOf, type Form} from '../../state/dialogs.js';
import type {GpuLine} from '../../state/hosts/lines.js';
import {extend} from '../reservations/extend.js';
import {defineCommand, succeeded} from '../command.js';
import {changeOnHost} from './answer.js';
import {byHost, gpusOfReservation, remoteHolding, reasonAgainstHeld, type RemoteHolding} from './target.js';

const wordsOf = ({gpus, leaseId}: RemoteHolding, duration: string): readonly string[] => [
	'--gpu-ids',
	gpus.join(','),
	...(leaseId === undefined ? [] : ['--lease', leaseId]),
	'--duration',
	duration,
];

export const extendOverHosts = defineCommand<Form<RemoteHolding>>({
	name: 'extend-here',
	keys: {modes: ['hosts'], keys: ['e'], footer: ['e', 'Extend']},
	...byHost({
		own: extend,
		reasonAgainst: (line) => reasonAgainstHeld(line, 'extend'),
		open: (line, state) =>
			formOf('extend-here', remoteHolding(line as GpuLine, gpusOfReservation(state, line as GpuLine)), [
				{name: 'duration', kind: 'duration', label: 'Duration', hint: 'added to its end: 30m, 2h, 1d', preset: '1h'},
			]),
	}),
	shellCommand: (form) =>
		shellCommand(['canhazgpu', 'extend', '--on', form.host, ...wordsOf(form, valueOf(form, 'duration'))]),
	async perform(context, form) {
		const by = secondsOf(form);
		const done = `extended ${gpuList(form.gpus)} of ${sanitize(form.host)} by ${longDuration(by)}`;
		const words = (held: RemoteHolding) => ['extend', ...wordsOf(held, typedDuration(by))];
		return changeOnHost(context, form, words, succeeded(done));
	},
	submitWord: () => 'Extend',
	Dialog: ({dialog}) => (
		<FormDialog form={dialog} title={`Extend ${gpuList(dialog.gpus)} of ${sanitize(dialog.host)}`} />
	),
});
