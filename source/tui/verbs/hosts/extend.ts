/** `e` over the table of all hosts: moves the end of the selected reservation; on another host by ssh. */
import {longDuration, typedDuration} from '../../../format/text/durations.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {shellCommand} from '../../../format/text/shell.js';
import {sanitize} from '../../../format/text/text.js';
import {secondsOf, valueOf} from '../shared/form-values.js';
import {formOf, type Form} from '../../state/dialogs.js';
import type {GpuLine} from '../../state/hosts/lines.js';
import {extend} from '../extend.js';
import {defineVerb, succeeded} from '../verb.js';
import {changeThere, hostsPort, refusedThere} from './answer.js';
import {byHost, gpusOfReservation, heldThere, reasonAgainstHeld, type HeldThere} from './target.js';

const wordsOf = ({gpus, leaseId}: HeldThere, duration: string): readonly string[] => [
	'--gpu-ids',
	gpus.join(','),
	...(leaseId === undefined ? [] : ['--lease', leaseId]),
	'--duration',
	duration,
];

export const extendThere = defineVerb<Form<HeldThere>>({
	name: 'extend-there',
	keys: {modes: [], keys: []},
	reasonAgainst: () => undefined,
	command: (form) =>
		shellCommand(['canhazgpu', 'extend', '--on', form.host, ...wordsOf(form, valueOf(form, 'duration'))]),
	async perform(context, form) {
		const by = secondsOf(form);
		const words = (held: HeldThere): readonly string[] => ['extend', ...wordsOf(held, typedDuration(by))];
		const answer = await changeThere(hostsPort(context), form, words);
		return answer.exitCode === 0
			? succeeded(`extended ${gpuList(form.gpus)} of ${sanitize(form.host)} by ${longDuration(by)}`)
			: refusedThere(form.host, answer);
	},
	submitWord: () => 'Extend',
	view: ({host, gpus}) => ({title: `Extend ${gpuList(gpus)} of ${sanitize(host)}`, lines: []}),
});

export const extendHere = defineVerb({
	name: 'extend-here',
	keys: {modes: ['hosts'], keys: ['e'], footer: ['e', 'Extend']},
	...byHost({
		own: extend,
		reasonAgainst: (line) => reasonAgainstHeld(line, 'extend'),
		open: (line, state) =>
			formOf('extend-there', heldThere(line as GpuLine, gpusOfReservation(state, line as GpuLine)), [
				{name: 'duration', kind: 'duration', label: 'Duration', hint: 'added to its end: 30m, 2h, 1d', preset: '1h'},
			]),
	}),
});
