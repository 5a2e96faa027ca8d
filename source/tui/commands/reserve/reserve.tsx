/** `r`, `w` and `R` reserve GPUs, either now or through the queue. */
import type {ReactElement} from 'react';
import {CanhazgpuError} from '../../../errors.js';
import type {EngineWorld} from '../../../core/operations/engine.js';
import type {Requester} from '../../../core/model/types.js';
import {acquire} from '../../../core/operations/waiting/acquire.js';
import {reserve as reserveGpus} from '../../../core/operations/reservations.js';
import {ownerOf} from '../../../core/rules/leases/ownership.js';
import type {Grant} from '../../../core/rules/request/request.js';
import {devicesText} from '../../../format/instances.js';
import {grantedText} from '../../../format/queue/outcome.js';
import {refusalMessage} from '../../../format/queue/refusal.js';
import {progressText} from '../../../format/queue/waiting-progress.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {shellCommand} from '../../../format/text/shell.js';
import {sanitize} from '../../../format/text/text.js';
import {Form as FormDialog} from '../../dialogs/form.js';
import {chosenGpus, taggedGpus} from '../../state/gpus/rows.js';
import {valueOf} from '../../state/form.js';
import type {Flash} from '../../state/messages.js';
import {latestOf} from '../../state/pause.js';
import type {State} from '../../state/state.js';
import {useMonitor} from '../../state/use-monitor.js';
import {Label} from '../../widgets/label.js';
import {defineCommand, type EffectContext, type Outcome} from '../command.js';
import {firstReason, reasonAgainstChange, reasonAgainstGpus} from '../reasons.js';
import {leaseOn} from '../reservations/targets.js';
import {flagsOf, freeNow, mayShare, reservationOf, reserveForm, type Reservation, type ReserveForm} from './form.js';

function grantedFlash(grant: Grant, reservation: Pick<Reservation, 'durationSeconds' | 'need'>): Flash {
	const {gpus, instances, place, leaseId} = grant;
	return {
		level: 'ok',
		text: grantedText(grant, reservation),
		next:
			place === undefined
				? `export CUDA_VISIBLE_DEVICES=${devicesText(gpus, instances)}`
				: `export SLURM_JOB_ID=${leaseId}`,
	};
}

/** Throws if a chosen GPU number now belongs to another GPU, as it can after a restart of the driver. */
function checkSameGpus({gpus = []}: Reservation, state: State): void {
	const readings = latestOf(state).observation?.gpus ?? [];
	const other = gpus.find(({index, uuid}) => {
		const now = readings.find((reading) => reading.index === index)?.uuid;
		return uuid !== undefined && now !== undefined && now !== uuid;
	});
	if (other !== undefined) {
		throw new CanhazgpuError('unavailable', `GPU ${other.index} is a different GPU now`, {
			hint: 'The GPUs have new numbers. Choose again.',
		});
	}
}

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
		// If too few GPUs are free, an engine's error has a hint about flags. Removes the hint, because the user presses a key to wait.
		if (world.engine !== undefined && error instanceof CanhazgpuError && error.code === 'unavailable') {
			return {kind: 'refused', complaint: {message: sanitize(error.message), hint: '', canWait: true}};
		}

		throw error;
	}
}

async function reserveOrWait({world, waits, store, ports}: EffectContext, reservation: Reservation): Promise<Outcome> {
	const {requester} = store.getState().settings;
	const {count, gpus, durationSeconds, note, force, need, strategy} = reservation;
	const tenure = {type: 'manual', durationSeconds} as const;
	const request = {requester, count, ids: gpus?.map(({index}) => index), tenure, note, force, need, strategy};
	const entryId = world.clock.uuid();
	const flashOf = (answer: Awaited<ReturnType<typeof acquire>>): Flash => {
		if (answer.kind === 'granted') {
			return grantedFlash(answer, reservation);
		}

		return answer.kind === 'gave-up' && answer.reason === 'removed' && !waits.hasLeft(entryId)
			? {level: 'error', text: 'Your request was removed from the queue. To wait again, press w'}
			: {level: 'ok', text: 'Left the queue; GPUs held for you were released'};
	};

	const begun = await waits.begin(async ({signal, onWaiting}) => {
		let hasWaited = false;
		const answer = await acquire(world, request, {
			waitSeconds: undefined,
			signal,
			leaveUntil: signal,
			entryId,
			onProgress(progress) {
				hasWaited = true;
				onWaiting(progressText(progress, false));
			},
		});
		if (hasWaited && answer.kind === 'granted') {
			void ports.notifyGranted?.(request, answer);
		}

		return answer;
	}, flashOf);
	return begun.kind === 'waiting' ? {kind: 'put-away'} : {kind: 'done', flash: flashOf(begun.result)};
}

const nothingFree: ReturnType<typeof freeNow> = {free: []};

function ReserveDialog({dialog}: {readonly dialog: ReserveForm}): ReactElement {
	const {gpus, willWait, complaint} = dialog;
	const {freeIds, free} = useMonitor((state) => (gpus === undefined ? freeNow(state) : nothingFree));
	const action = willWait ? 'Wait for' : 'Reserve';
	// With needs, a share or force, the request cannot be compared with the number of free GPUs.
	const wantsAny = ['needs', 'share', 'force'].every((name) => valueOf(dialog, name) === '');
	const holds = wantsAny && freeIds !== undefined && Number(valueOf(dialog, 'count')) > freeIds.length;
	const consequence = holds
		? 'Waits while this monitor runs, holding what it gets.'
		: 'Reserves now, or waits while this monitor runs.';
	// After a refusal, leaves these lines out, because the text of the refusal says the same and needs the space.
	const lines = complaint === undefined ? [...(willWait ? [consequence] : []), ...free] : [];
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

/** Reserves GPUs now, or waits for them in the queue if the user wants to. The forms of `w` and `R` belong to this command, too. */
export const reserve = defineCommand<ReserveForm>({
	name: 'reserve',
	keys: {
		modes: ['gpus', 'queue'],
		keys: ['r'],
		help: ['Reserve', 'reserve GPUs for a time'],
		footer: ['r', 'Reserve'],
	},
	reasonAgainst: reasonAgainstChange,
	open: (state) => reserveForm(state, false),
	shellCommand: (form, requester) =>
		shellCommand(['canhazgpu', 'reserve', ...flagsOf(form, requester), ...(form.willWait ? [] : ['--nonblock'])]),
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
});

/** Returns why GPUs cannot be chosen by number. Undefined if they can. Some engines choose the GPUs themselves. */
const reasonAgainstNaming = ({settings: {lacks}}: State): string | undefined =>
	lacks?.has('ids') === true ? 'GPUs are chosen for you here: press r and say how many' : undefined;

/** Members of a command that reserves exactly the chosen GPUs. */
export const reserveThese = {
	reasonAgainst: firstReason(reasonAgainstChange, reasonAgainstGpus, reasonAgainstNaming, (state) => {
		// A shared GPU does not count as taken, because there may be room for another share.
		const taken = chosenGpus(state).find(
			(gpu) => leaseOn(state, gpu) !== undefined && !(mayShare(state) && state.snapshot?.gpus[gpu]?.kind === 'shared'),
		);
		return taken === undefined
			? undefined
			: `GPU ${taken} is already reserved, by ${sanitize(ownerOf(leaseOn(state, taken)!))}`;
	}),
	open: (state: State) => reserveForm(state, false, chosenGpus(state)),
};

/** Waits in the queue for any GPUs, or for the tagged GPUs, and reserves them when they are free. */
export const wait = defineCommand<ReserveForm>({
	name: 'wait',
	keys: {modes: ['gpus', 'queue'], keys: ['w'], help: ['Queue and processes', 'wait for GPUs'], footer: ['w', 'Wait']},
	reasonAgainst: firstReason(reasonAgainstChange, (state) =>
		taggedGpus(state).length > 0 ? reasonAgainstNaming(state) : undefined,
	),
	open(state) {
		const tagged = taggedGpus(state);
		return reserveForm(state, true, tagged.length > 0 ? tagged : undefined);
	},
});
