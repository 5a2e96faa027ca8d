/** `e`: extends the chosen reservations. */
import {extend as extendLeases} from '../../../core/operations/reservations.js';
import {longDuration, typedDuration} from '../../../format/text/durations.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {shellCommand} from '../../../format/text/shell.js';
import {Form as FormDialog} from '../../dialogs/form.js';
import {formOf, type Form} from '../../state/dialogs.js';
import {secondsOf, valueOf} from '../../state/form.js';
import {firstReason, reasonAgainstChange, reasonAgainstGpus} from '../reasons.js';
import {defineCommand, failed} from '../command.js';
import {commandOn, outcomeOfTargets, reasonAgainstTargets, targetPlaces, targetsOf, type Targets} from './targets.js';
import {OtherReservations, TargetList} from './target-list.js';

export const extend = defineCommand<Form<Targets>>({
	name: 'extend',
	keys: {modes: ['gpus'], keys: ['e'], help: ['Reserve', 'extend the reservation'], footer: ['e', 'Extend']},
	reasonAgainst: firstReason(reasonAgainstChange, reasonAgainstGpus, (state) => reasonAgainstTargets(state, 'extend')),
	open(state) {
		const about = targetsOf(state, 'extend');
		const whose = about.targets.length === 1 ? 'its end' : 'each end';
		return formOf('extend', about, [
			{name: 'duration', kind: 'duration', label: 'Duration', hint: `added to ${whose}: 30m, 2h, 1d`, preset: '1h'},
		]);
	},
	shellCommand: (form) => shellCommand([...commandOn('extend', form), '--duration', valueOf(form, 'duration')]),
	async perform({world, store}, form) {
		const by = secondsOf(form);
		const {requester} = store.getState().settings;
		const {extended, notYours, notTimed} = await extendLeases(
			world,
			requester,
			{by: 'leases', leases: form.targets},
			{by},
		);
		if (notTimed.length > 0) {
			return failed(`Nothing extended: ${gpuList(notTimed)} held by a job that has no end time`);
		}

		return outcomeOfTargets('extend', {
			...form,
			word: 'extended',
			changed: extended,
			notYours,
			addition: ` by ${longDuration(by)}`,
			flags: ['--duration', typedDuration(by)],
		});
	},
	submitWord: () => 'Extend',
	Dialog: ({dialog}) => (
		<FormDialog form={dialog} title={`Extend ${targetPlaces(dialog.targets)}`}>
			<TargetList {...dialog} />
			<OtherReservations action="extend" {...dialog} />
		</FormDialog>
	),
});
