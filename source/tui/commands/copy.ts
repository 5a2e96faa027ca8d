/** `y` and `Y`: copy text to the clipboard. */
import {Buffer} from 'node:buffer';
import {instancesHeld} from '../../core/rules/leases/holding-changes.js';
import {holdingsOn, type Holding} from '../../core/rules/leases/holdings.js';
import {owns} from '../../core/rules/leases/ownership.js';
import {devicesText} from '../../format/instances.js';
import {processText} from '../../format/readings.js';
import {counted} from '../../format/text/numbers.js';
import {sanitize} from '../../format/text/text.js';
import {chosenGpus} from '../state/gpus/rows.js';
import {selectedProcess} from '../state/processes/rows.js';
import {rowsOf, type State} from '../state/state.js';
import {defineCommand, succeeded, type Done, type EffectContext} from './command.js';
import {firstReason, reasonAgainstGpus} from './reasons.js';
import {leaseOn, reservationGpus} from './reservations/targets.js';

/**
Copies text to the clipboard with the escape sequence OSC 52. This works over ssh and in many terminals, but no terminal confirms the copy. Depending
on its settings, tmux handles the plain sequence or passes a wrapped sequence to the outer terminal, so both are sent.
*/
export function copied({ports, writeTerminal}: EffectContext, text: string, what = ''): Done {
	const sequence = `\u{1B}]52;c;${Buffer.from(text).toString('base64')}\u{7}`;
	const wrapped = `\u{1B}Ptmux;${sequence.replaceAll('\u{1B}', '\u{1B}\u{1B}')}\u{1B}\\`;
	writeTerminal(ports.isInTmux === true ? sequence + wrapped : sequence);
	return succeeded(`Copied ${what}(if your terminal allows OSC 52)`);
}

/** Whether the UUID has only plain characters. Another account may have published the UUID, and must not get other text into the clipboard. */
const isPlain = (uuid: string | undefined): boolean => uuid !== undefined && /^[\w\-]{1,80}$/v.test(uuid);

/** Returns the parts of the GPUs that the user's reservations hold. */
const ownParts = (state: State): readonly Holding[] =>
	reservationGpus(state).flatMap((gpu) => {
		const id = leaseOn(state, gpu)?.leaseId;
		return holdingsOn(state.snapshot?.gpus[gpu]).filter(({lease}) => lease.leaseId === id);
	});

function reasonAgainstCopied(state: State): string | undefined {
	const other = reservationGpus(state).find((gpu) => {
		const lease = leaseOn(state, gpu);
		return lease === undefined || !owns(state.settings.requester, lease);
	});
	if (other !== undefined) {
		return `GPU ${other} is not yours: nothing to copy`;
	}

	const parts = ownParts(state);
	const instances = instancesHeld(parts) ?? [];
	if (instances.some(({uuid}) => !isPlain(uuid))) {
		return 'A MIG instance of this reservation has no valid UUID: nothing to copy';
	}

	if (instances.length > 0 && parts.some(({lease}) => lease.mig === undefined)) {
		return 'A shell can use either whole GPUs or MIG instances: tag one kind';
	}

	const isOfSeveral = new Set(reservationGpus(state).map((gpu) => leaseOn(state, gpu)?.leaseId)).size > 1;
	return state.settings.engine !== undefined && isOfSeveral
		? 'A shell can use only one Slurm job: tag the GPUs of one job'
		: undefined;
}

/** Returns the line to copy. On a cluster, the line contains the job id, because the GPU numbers on the nodes differ from the shown numbers. */
function exportLine(state: State): string {
	const gpus = reservationGpus(state);
	const isElsewhere = gpus.some((gpu) => rowsOf(state)[gpu]?.reading?.place !== undefined);
	const jobs = new Set(gpus.map((gpu) => leaseOn(state, gpu)?.leaseId));
	return isElsewhere
		? `export SLURM_JOB_ID=${[...jobs][0] ?? ''}`
		: `export CUDA_VISIBLE_DEVICES=${devicesText(gpus, instancesHeld(ownParts(state)))}`;
}

/** Copies a shell line that selects the GPUs, such as `export CUDA_VISIBLE_DEVICES=0,1`. */
export const copy = defineCommand({
	name: 'copy',
	keys: {modes: ['gpus', 'detail'], keys: ['y'], help: ['Reserve', 'copy its export line']},
	reasonAgainst: firstReason(reasonAgainstGpus, reasonAgainstCopied),
	begin(context) {
		const line = exportLine(context.store.getState());
		const {flash} = copied(context, line);
		return {kind: 'done', flash: {...flash, next: line}};
	},
});

export const copyCommand = defineCommand({
	name: 'copy-command',
	keys: {
		modes: ['processes'],
		keys: ['y'],
		help: ['Queue and processes', 'copy its command'],
		footer: ['y', 'Copy', 3],
	},
	reasonAgainst: (state) => (selectedProcess(state) === undefined ? 'No process is shown' : undefined),
	begin(context) {
		const {process} = selectedProcess(context.store.getState())!;
		// Copies the command line as shown: without secrets, and without control characters, which a shell would interpret.
		const command = sanitize(process.commandLine ?? '');
		return copied(context, command === '' ? processText(process) : command, `the command of process ${process.pid} `);
	},
});

const uuidOf = (state: State, gpu: number): string | undefined => rowsOf(state)[gpu]?.reading?.uuid;

/** Copies the UUIDs of the chosen GPUs, for `nvidia-smi -i` and a container's `--gpus device=`. */
export const identify = defineCommand({
	name: 'identify',
	keys: {modes: ['gpus', 'detail'], keys: ['Y'], help: ['GPUs and processes', 'copy the UUIDs of GPUs']},
	reasonAgainst: firstReason(reasonAgainstGpus, (state) => {
		const nameless = chosenGpus(state).find((gpu) => !isPlain(uuidOf(state, gpu)));
		return nameless === undefined ? undefined : `GPU ${nameless} has no known UUID`;
	}),
	begin(context) {
		const state = context.store.getState();
		const gpus = chosenGpus(state);
		return copied(context, gpus.map((gpu) => uuidOf(state, gpu)).join(','), `${counted(gpus.length, 'UUID')} `);
	},
});
