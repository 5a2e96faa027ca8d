/** `Y`: copies the UUIDs of the chosen GPUs, for `nvidia-smi -i` and a container's `--gpus device=`. */
import {counted} from '../../format/text/numbers.js';
import {rowsOf, type State} from '../state/state.js';
import {chosenGpus} from '../state/gpus/rows.js';
import {toClipboard} from './shared/clipboard.js';
import {firstReason, reasonAgainstGpus} from './shared/reasons.js';
import {defineCommand} from './command.js';

const uuidOf = (state: State, gpu: number): string | undefined => rowsOf(state)[gpu]?.reading?.uuid;

/** Whether the UUID is a plain name. Another account may have published the reading, and no other text must get into the clipboard. */
const isPlain = (uuid: string | undefined): boolean => uuid !== undefined && /^[\w\-]{1,80}$/v.test(uuid);

function reasonAgainstNames(state: State): string | undefined {
	const nameless = chosenGpus(state).find((gpu) => !isPlain(uuidOf(state, gpu)));
	return nameless === undefined ? undefined : `GPU ${nameless} has no known UUID`;
}

export const identify = defineCommand({
	name: 'identify',
	keys: {modes: ['gpus', 'detail'], keys: ['Y'], help: ['GPUs and processes', 'copy the UUIDs of GPUs']},
	reasonAgainst: firstReason(reasonAgainstGpus, reasonAgainstNames),
	begin(context) {
		const {getState, dispatch} = context.store;
		const gpus = chosenGpus(getState());
		toClipboard(context, gpus.map((gpu) => uuidOf(getState(), gpu)).join(','));
		const text = `Copied ${counted(gpus.length, 'UUID')} (if your terminal allows OSC 52)`;
		dispatch({kind: 'done', flash: {level: 'ok', text}});
	},
});
