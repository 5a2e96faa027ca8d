/** `y`: copies a shell line that selects the GPUs, such as `export CUDA_VISIBLE_DEVICES=0,1`. */
import {owns} from '../../../core/rules/leases/ownership.js';
import {rowsOf, type State} from '../../state/state.js';
import {toClipboard} from '../shared/clipboard.js';
import {firstReason, reasonAgainstGpus} from '../shared/reasons.js';
import {leaseOn, reservationGpus} from '../shared/targets.js';
import {defineCommand} from '../command.js';

function reasonAgainstCopied(state: State): string | undefined {
	const other = reservationGpus(state).find((gpu) => {
		const lease = leaseOn(state, gpu);
		return lease === undefined || !owns(state.settings.requester, lease);
	});
	if (other !== undefined) {
		return `GPU ${other} is not yours: nothing to copy`;
	}

	const isOfSeveral = new Set(reservationGpus(state).map((gpu) => leaseOn(state, gpu)?.leaseId)).size > 1;
	return state.settings.engine !== undefined && isOfSeveral
		? 'A shell can use only one Slurm job: tag the GPUs of one job'
		: undefined;
}

/** Returns the line to copy. On a cluster, it has the job id, because the GPU numbers shown are not those on the nodes. */
function exportLine(state: State): string {
	const gpus = reservationGpus(state);
	const isElsewhere = gpus.some((gpu) => rowsOf(state)[gpu]?.reading?.place !== undefined);
	const jobs = new Set(gpus.map((gpu) => leaseOn(state, gpu)?.leaseId));
	return isElsewhere ? `export SLURM_JOB_ID=${[...jobs][0] ?? ''}` : `export CUDA_VISIBLE_DEVICES=${gpus.join(',')}`;
}

export const copy = defineCommand({
	name: 'copy',
	keys: {modes: ['gpus', 'detail'], keys: ['y'], help: ['Reserve', 'copy its export line']},
	reasonAgainst: firstReason(reasonAgainstGpus, reasonAgainstCopied),
	begin(context) {
		const {getState, dispatch} = context.store;
		const line = exportLine(getState());
		toClipboard(context, line);
		dispatch({kind: 'done', flash: {level: 'ok', text: 'Copied (if your terminal allows OSC 52)', next: line}});
	},
});
