/** Shared by the keys that reserve GPUs: the form, the equivalent command, and reserving now or in the queue. */
import type {ReactElement} from 'react';
import {CanhazgpuError, quoted} from '../../../errors.js';
import {offersShares, type EngineWorld} from '../../../core/operations/engine.js';
import type {Need, Requester} from '../../../core/model/types.js';
import {parseNeeds, wishOf} from '../../../core/rules/request/need-text.js';
import type {StrategyName} from '../../../core/model/need.js';
import {acquire} from '../../../core/operations/waiting/acquire.js';
import {reserve as reserveGpus} from '../../../core/operations/reservations.js';
import type {Grant} from '../../../core/rules/request/request.js';
import {inventory} from '../../../core/rules/allocation/instances.js';
import {mostGpusFor} from '../../../core/rules/allocation/need.js';
import {ownerOf} from '../../../core/rules/leases/ownership.js';
import {wholeGpus} from '../../../core/rules/pool/status.js';
import {freeLines} from '../../../format/instances.js';
import {grantedText} from '../../../format/queue/outcome.js';
import {refusalMessage} from '../../../format/queue/refusal.js';
import {
	reserveFields,
	reserveFlags,
	type ReserveField,
	type ReserveOffer,
	type ReserveValues,
} from '../../../format/reservation-form.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {shellCommand} from '../../../format/text/shell.js';
import {sanitize} from '../../../format/text/text.js';
import {progressText} from '../../../format/queue/waiting-progress.js';
import {Form as FormDialog} from '../../dialogs/form.js';
import {formOf, type Form, type NewField} from '../../state/dialogs.js';
import type {Flash} from '../../state/messages.js';
import {latestOf} from '../../state/pause.js';
import {gpuCountOf, rowsOf, type State} from '../../state/state.js';
import {chosenGpus} from '../../state/gpus/rows.js';
import {Label} from '../../widgets/label.js';
import type {EffectContext, Outcome, VerbOf} from '../verb.js';
import {leaseOn} from './targets.js';
import {firstReason, reasonAgainstChange, reasonAgainstGpus} from './reasons.js';
import {secondsOf, valueOf} from './form-values.js';

/** A GPU when the dialog opened. Its index can change before the request is sent. */
type NamedGpu = {readonly index: number; readonly uuid: string | undefined};

type Wanted = {
	/** The requested GPUs, or undefined for any. */
	readonly gpus?: readonly NamedGpu[];
	/** Whether to wait in the queue if they are not free. */
	readonly willWait: boolean;
	/** Free GPUs and MIG instances. Absent without MIG, or if GPUs were chosen. */
	readonly free?: readonly string[];
};

export type ReserveForm = Form<Wanted>;

/** Adds the monitor's keys to the hint of a field. */
const withKeys = (field: ReserveField): NewField => {
	switch (field.kind) {
		case 'count': {
			const {follow} = field;
			const withHint = <Bound extends Pick<ReserveField, 'hint' | 'most'>>(bound: Bound): Bound =>
				bound.most === 1 ? bound : {...bound, hint: `${bound.hint} (Up/Down to change)`};
			return {...withHint(field), ...(follow && {follow: (values) => withHint(follow(values))})};
		}

		case 'check': {
			return {...field, hint: `Space: ${field.hint}`};
		}

		case 'duration':
		case 'text': {
			return field;
		}
	}
};

/** Returns the fields of a reservation. */
export const reserveFormFields = (offer: ReserveOffer): readonly NewField[] =>
	reserveFields(offer).map((field) => withKeys(field));

/** Returns the maximum number of GPUs of one reservation. On a cluster, all must be on one node. */
function mostGpus(state: State): number {
	const places = latestOf(state).observation?.gpus.flatMap(({place}) => place ?? []) ?? [];
	const counts = Map.groupBy(places, ({node}) => node)
		.values()
		.map(({length}) => length);
	return places.length === 0 ? gpuCountOf(state) : Math.max(...counts);
}

const mayShare = (state: State): boolean => offersShares(state.settings.lacks, latestOf(state).snapshot);

/** Returns the needs of whole GPUs. Empty while the text is invalid. */
function wholeNeedOf(needs: string): Need {
	try {
		const {mig: _, ...need} = parseNeeds(needs).need ?? {};
		return need;
	} catch {
		return {};
	}
}

/** Returns how many whole GPUs one request with these needs can have. Ignores needs that no GPU meets. */
function gpuCountFor(state: State, needs: string): number {
	const {observation} = latestOf(state);
	if (observation === undefined || state.settings.lacks !== undefined) {
		return mostGpus(state) - wholeGpus(rowsOf({...state, ...latestOf(state)})).split;
	}

	const most = (need: Need): number => mostGpusFor(need, observation, gpuCountOf(state));
	const count = most(wholeNeedOf(needs));
	return count === 0 ? most({}) : count;
}

/** Returns the form for a number of GPUs, or for the given GPUs. */
export function reserveForm(state: State, willWait: boolean, gpus?: readonly number[]): ReserveForm {
	const named = gpus?.map((index): NamedGpu => ({index, uuid: rowsOf(state)[index]?.reading?.uuid}));
	const {observation, snapshot} = latestOf(state);
	const instances = named === undefined ? inventory(observation?.gpus ?? [], snapshot?.gpus ?? []) : [];
	const whole = wholeGpus(rowsOf({...state, ...latestOf(state)}));
	const free = named === undefined ? freeLines(whole, instances) : [];
	return formOf(
		'reserve',
		{gpus: named, willWait, free: free.length === 0 ? undefined : free},
		reserveFormFields({
			gpuCount: named === undefined ? gpuCountFor(state, '') : undefined,
			gpuCountFor: (needs) => gpuCountFor(state, needs),
			instanceCount: instances.reduce((sum, {total}) => sum + total, 0),
			hasShares: mayShare(state),
			lacks: state.settings.lacks,
			models: observation?.gpus.flatMap(({name}) => (name === undefined ? [] : [sanitize(name)])),
		}),
	);
}

const valuesOf = (form: ReserveForm): ReserveValues =>
	Object.fromEntries(form.fields.map(({name}) => [name, valueOf(form, name)]));

/** Returns the flags of `reserve` equivalent to the form. */
export const flagsOf = (form: ReserveForm, requester: Requester): readonly string[] => [
	...reserveFlags(
		valuesOf(form),
		form.gpus?.map(({index}) => index),
	),
	...(requester.label === requester.account ? [] : ['--user', requester.label]),
];

type Reservation = {
	readonly count: number;
	readonly gpus?: readonly NamedGpu[];
	readonly durationSeconds: number;
	readonly note?: string;
	readonly force: boolean;
	/** Requirements for any GPUs. */
	readonly need?: Need;
	readonly strategy?: StrategyName;
};

function countOf(form: ReserveForm): number {
	const text = valueOf(form, 'count');
	if (text === '') {
		throw new CanhazgpuError('usage', 'How many GPUs?', {hint: 'Type a number.'});
	}

	if (!/^\d+$/v.test(text) || Number(text) < 1) {
		throw new CanhazgpuError('usage', `GPUs: ${quoted(text)} is not a number of GPUs`, {hint: 'Type 1 or more.'});
	}

	return Number(text);
}

/** @throws CanhazgpuError `usage` for the first invalid field. */
export function reservationOf(form: ReserveForm): Reservation {
	const {gpus} = form;
	const count = gpus?.length ?? countOf(form);
	const note = valueOf(form, 'note');
	const wish = wishOf({count, needs: valueOf(form, 'needs'), share: valueOf(form, 'share')});
	return {
		count,
		...wish,
		gpus,
		durationSeconds: secondsOf(form),
		note: note === '' ? undefined : note,
		force: valueOf(form, 'force') !== '',
	};
}

function grantedFlash(grant: Grant, reservation: Pick<Reservation, 'durationSeconds' | 'need'>): Flash {
	const {gpus, instances, place, leaseId} = grant;
	const devices = instances?.map(({uuid}) => sanitize(uuid)) ?? gpus;
	return {
		level: 'ok',
		text: grantedText(grant, reservation),
		next: place === undefined ? `export CUDA_VISIBLE_DEVICES=${devices.join(',')}` : `export SLURM_JOB_ID=${leaseId}`,
	};
}

/** Throws if an index now belongs to another GPU, as after a restart of the driver. */
function checkSameGpus({gpus = []}: Reservation, state: State): void {
	const readings = latestOf(state).observation?.gpus ?? [];
	const other = gpus.find(({index, uuid}) => {
		const now = readings.find((reading) => reading.index === index)?.uuid;
		return uuid !== undefined && now !== undefined && now !== uuid;
	});
	if (other !== undefined) {
		throw new CanhazgpuError('unavailable', `GPU ${other.index} is a different GPU now`, {
			hint: 'The GPUs were numbered again. Choose again.',
		});
	}
}

/** Reserves now, or fails. */
export async function reserveNow(world: EngineWorld, requester: Requester, reservation: Reservation): Promise<Outcome> {
	const {gpus} = reservation;
	try {
		const answer = await reserveGpus(world, {...reservation, requester, ids: gpus?.map(({index}) => index)});
		return answer.kind === 'refused'
			? {
					kind: 'refused',
					complaint: {...refusalMessage(answer, {account: requester.account, seesHolders: true}), canWait: true},
				}
			: {kind: 'done', flash: grantedFlash(answer, reservation)};
	} catch (error) {
		// An engine reports a shortage as an error with a hint about flags. Here a key waits instead.
		if (world.engine !== undefined && error instanceof CanhazgpuError && error.code === 'unavailable') {
			return {kind: 'refused', complaint: {message: sanitize(error.message), hint: '', canWait: true}};
		}

		throw error;
	}
}

/** Reserves now, or waits in the queue. */
async function reserveOrWait({world, waits, store}: EffectContext, reservation: Reservation): Promise<Outcome> {
	const {requester} = store.getState().settings;
	const {count, gpus, durationSeconds, note, force, need, strategy} = reservation;
	const tenure = {type: 'manual', durationSeconds} as const;
	const flashOf = (answer: Awaited<ReturnType<typeof acquire>>): Flash =>
		answer.kind === 'granted'
			? grantedFlash(answer, reservation)
			: {level: 'ok', text: 'Left the queue; GPUs held for you were given back'};
	const begun = await waits.begin(
		async ({signal, onWaiting}) =>
			acquire(
				world,
				{requester, count, ids: gpus?.map(({index}) => index), tenure, note, force, need, strategy},
				{
					waitSeconds: undefined,
					signal,
					onProgress(progress) {
						onWaiting(progressText(progress, false));
					},
				},
			),
		flashOf,
	);
	return begun.kind === 'waiting' ? {kind: 'put-away'} : {kind: 'done', flash: flashOf(begun.result)};
}

function ReserveDialog({dialog}: {readonly dialog: ReserveForm}): ReactElement {
	const {gpus, willWait, free = []} = dialog;
	const action = willWait ? 'Wait for' : 'Reserve';
	const lines = [...(willWait ? ['Reserves now, or waits while this monitor runs.'] : []), ...free];
	return (
		<FormDialog
			form={dialog}
			title={gpus === undefined ? `${action} GPUs` : `${action} ${gpuList(gpus.map(({index}) => index))}`}
		>
			{lines.length === 0
				? undefined
				: lines.map((line) => (
						<Label key={line} tone="dim">
							{line}
						</Label>
					))}
		</FormDialog>
	);
}

/** The dialog of a reservation, and its actions. */
export const reservationDialog: Pick<VerbOf<ReserveForm>, 'command' | 'perform' | 'submitWord' | 'Dialog'> = {
	command: (form, requester) => shellCommand(['canhazgpu', 'reserve', ...flagsOf(form, requester)]),
	async perform(context, form, willWait) {
		const {world, store} = context;
		const reservation = reservationOf(form);
		checkSameGpus(reservation, store.getState());
		return form.willWait || willWait
			? reserveOrWait(context, reservation)
			: reserveNow(world, store.getState().settings.requester, reservation);
	},
	submitWord: ({willWait}) => (willWait ? 'Wait' : 'Reserve'),
	Dialog: ReserveDialog,
};

/** Returns why GPUs cannot be named: some engines choose them. */
export const reasonAgainstNaming = ({settings: {lacks}}: State): string | undefined =>
	lacks?.has('ids') === true ? 'GPUs are chosen for you here: press r and say how many' : undefined;

/** Reserves exactly the chosen GPUs. */
export const reserveThese = {
	reasonAgainst: firstReason(reasonAgainstChange, reasonAgainstGpus, reasonAgainstNaming, (state) => {
		// A shared GPU may have room for another share.
		const taken = chosenGpus(state).find(
			(gpu) => leaseOn(state, gpu) !== undefined && !(mayShare(state) && state.snapshot?.gpus[gpu]?.kind === 'shared'),
		);
		return taken === undefined
			? undefined
			: `GPU ${taken} is reserved already, by ${sanitize(ownerOf(leaseOn(state, taken)!))}`;
	}),
	open: (state: State) => reserveForm(state, false, chosenGpus(state)),
};
