/** `r` and `R` in the host table: reserve GPUs on the host of the selected line. On other hosts, this is done by ssh. */
import {CanhazgpuError} from '../../../errors.js';
import {wishes} from '../../../core/operations/engine.js';
import {shareOfText} from '../../../format/queue/outcome.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {counted} from '../../../format/text/numbers.js';
import {longDuration} from '../../../format/text/durations.js';
import {shellCommand} from '../../../format/text/shell.js';
import {sanitize} from '../../../format/text/text.js';
import type {HostAnswer} from '../../ports.js';
import {Form as FormDialog} from '../../dialogs/form.js';
import {formOf, type Form} from '../../state/dialogs.js';
import type {HostLine} from '../../state/hosts/lines.js';
import {complaintText, type Flash} from '../../state/messages.js';
import type {State} from '../../state/state.js';
import {Label} from '../../widgets/label.js';
import {reserve, reserveThese} from '../reserve/reserve.js';
import {flagsOf, reservationOf, reserveFormFields, type ReserveForm} from '../reserve/form.js';
import {defineCommand, type EffectContext, type Outcome} from '../command.js';
import {hostsPort, refusedByHost, unknownFlagIn, type Refusal} from './answer.js';
import {byHost, gpuLinesOf, nodesOf} from './target.js';

type RemoteReserveForm = ReserveForm & Form<{readonly host: string}>;

/** The largest number of GPUs to request from a host whose number of GPUs is unknown. */
const unknownCount = 64;

function formFor({host}: HostLine, state: State, gpus?: readonly number[]): RemoteReserveForm {
	const nodes = nodesOf(state, host);
	const lines = gpuLinesOf(state, host);
	// On a cluster, all GPUs of a reservation must be on one node.
	const known = nodes === undefined ? lines.length : Math.max(...nodes.values().map(({length}) => length));
	const named = gpus?.map((index) => ({index, uuid: undefined}));
	return formOf(
		'reserve-here',
		{host, gpus: named, willWait: false, free: []},
		reserveFormFields({
			gpuCount: named === undefined ? (known === 0 ? unknownCount : known) : undefined,
			// Offers shares although the policy of the other host is unknown. For a cluster, offers only requests that every engine supports.
			hasShares: nodes === undefined,
			lacks: nodes && new Set(wishes),
			models: lines.flatMap(({gpu}) => gpu.gpu_model ?? []),
		}),
	);
}

/** Returns the GPU ids or MIG UUIDs that `reserve --short` printed. Ignores what login scripts printed before. */
const idsIn = (stdout: string): readonly string[] | undefined =>
	stdout
		.trim()
		.split('\n')
		.findLast((line) => /^(?:\d+(?:,\d+)*|MIG-[\w\-\/]+(?:,MIG-[\w\-\/]+)*)$/v.test(line))
		?.split(',');

function flashOf(
	{host}: RemoteReserveForm,
	ids: readonly string[],
	{durationSeconds, need}: ReturnType<typeof reservationOf>,
): Flash {
	const name = sanitize(host);
	const what =
		ids[0]?.startsWith('MIG-') === true
			? `${ids.length} MIG instance(s)`
			: `${shareOfText(need)}${gpuList(ids.map(Number))}`;
	return {
		level: 'ok',
		text: `reserved ${what} of ${name} for ${longDuration(durationSeconds)}`,
		next: shellCommand(['ssh', host]),
	};
}

/** Returns the outcome of a refused request. If an older version does not know a flag, the hint names the dialog's field for that flag. */
function refusedReservation(host: string, answer: HostAnswer): Refusal {
	const flag = unknownFlagIn(answer);
	if (flag === undefined) {
		return refusedByHost(host, answer);
	}

	const isShare = flag === 'share';
	return {
		kind: 'refused',
		complaint: {
			message: sanitize(`${host}: its canhazgpu ${isShare ? 'cannot share GPUs' : `does not support --${flag}`}`),
			hint: `It is an older version, or the Go program. ${isShare ? 'Leave Share empty for whole GPUs.' : 'Leave that out of Needs.'}`,
		},
	};
}

async function waitOnHost(context: EffectContext, form: RemoteReserveForm): Promise<Outcome> {
	const port = hostsPort(context);
	const {requester} = context.store.getState().settings;
	const reservation = reservationOf(form);
	const {count, need} = reservation;
	const endOf = (answer: HostAnswer): Flash => {
		const ids = idsIn(answer.stdout);
		return answer.exitCode === 0 && ids !== undefined
			? flashOf(form, ids, reservation)
			: {level: 'error', text: complaintText(refusedReservation(form.host, answer).complaint)};
	};

	const begun = await context.waits.begin(async ({signal, onWaiting}) => {
		onWaiting(`waiting on ${form.host} for ${shareOfText(need)}${counted(count, 'GPU')}`);
		return port.run(form.host, ['reserve', ...flagsOf(form, requester), '--short'], {signal, isUnbounded: true});
	}, endOf);
	return begun.kind === 'waiting' ? {kind: 'put-away'} : {kind: 'done', flash: endOf(begun.result)};
}

/** `r`. The dialog of `R` belongs to this command, too: see {@link reserveThisOverHosts}. */
export const reserveOverHosts = defineCommand<RemoteReserveForm>({
	name: 'reserve-here',
	keys: {modes: ['hosts'], keys: ['r'], footer: ['r', 'Reserve']},
	...byHost({own: reserve, reasonAgainst: () => undefined, open: (line, state) => formFor(line, state)}),
	shellCommand: (form, requester) =>
		shellCommand(['canhazgpu', 'reserve', '--on', form.host, ...flagsOf(form, requester), '--nonblock']),
	async perform(context, form, willWait) {
		// Throws for invalid input before anything is sent to the host.
		const reservation = reservationOf(form);
		if (willWait) {
			return waitOnHost(context, form);
		}

		const {requester} = context.store.getState().settings;
		const words = ['reserve', ...flagsOf(form, requester), '--nonblock', '--short'];
		const answer = await hostsPort(context).run(form.host, words, {isUnbounded: false});
		const ids = idsIn(answer.stdout);
		if (answer.exitCode !== 0) {
			return refusedReservation(form.host, answer);
		}

		if (ids === undefined) {
			throw new CanhazgpuError('failed', `${form.host}: the host did not say which GPUs it granted`, {
				hint: 'The table will show them after the next answer of that host.',
			});
		}

		return {kind: 'done', flash: flashOf(form, ids, reservation)};
	},
	submitWord: () => 'Reserve',
	Dialog: ({dialog}) => (
		<FormDialog
			form={dialog}
			title={`Reserve ${dialog.gpus === undefined ? 'GPUs' : gpuList(dialog.gpus.map(({index}) => index))} on ${sanitize(dialog.host)}`}
		>
			<Label tone="dim">That host decides, as if you had typed the command there.</Label>
		</FormDialog>
	),
});

export const reserveThisOverHosts = defineCommand<RemoteReserveForm>({
	name: 'reserve-these-here',
	keys: {modes: ['hosts'], keys: ['R'], footer: ['R', 'This', 3]},
	...byHost({
		own: reserveThese,
		reasonAgainst(line, state) {
			if (line.kind !== 'gpu') {
				return 'This line is a host: select a GPU to reserve it, or press r';
			}

			if (nodesOf(state, line.host) !== undefined) {
				return `GPUs are chosen for you on ${sanitize(line.host)}: press r and say how many`;
			}

			return line.gpu.user === undefined
				? undefined
				: `GPU ${line.gpu.gpu_id} of ${sanitize(line.host)} is already reserved, by ${line.gpu.user}`;
		},
		open: (line, state) => formFor(line, state, line.kind === 'gpu' ? [line.gpu.gpu_id] : undefined),
	}),
});
