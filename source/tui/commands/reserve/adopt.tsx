/** `R`: reserves the selected GPU for the user's own process on it. If there is no such process, reserves the chosen GPUs. */
import type {GpuProcess} from '../../../core/model/types.js';
import {adopt as adoptProcess} from '../../../core/operations/adopt.js';
import {ownTargets} from '../../../core/rules/processes/process-targets.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {shellCommand} from '../../../format/text/shell.js';
import {sanitize} from '../../../format/text/text.js';
import {Confirm} from '../../dialogs/confirm.js';
import {ask, type Confirmation} from '../../state/dialogs.js';
import type {State} from '../../state/state.js';
import {selectedRow, taggedGpus} from '../../state/gpus/rows.js';
import {processLine} from '../../../format/readings.js';
import {Label} from '../../widgets/label.js';
import {defineCommand, openingOf, succeeded} from '../command.js';
import {ownProcesses} from '../processes/own-scan.js';
import {reserveThese} from './reserve.js';

/** Returns the user's largest process on the selected GPU, if nobody holds that GPU and no GPUs are tagged. */
const adoptable = (state: State): GpuProcess | undefined =>
	taggedGpus(state).length === 0 && selectedRow(state)?.state === 'unreserved'
		? ownProcesses(state).find(({startTicks}) => startTicks !== undefined)
		: undefined;

type Adoption = {readonly process: GpuProcess; readonly gpu: number};

export const adopt = defineCommand<Confirmation<Adoption>>({
	name: 'adopt',
	keys: {modes: ['gpus'], keys: ['R'], help: ['Reserve', 'reserve these, adopt'], footer: ['R', 'These', 3]},
	footerWord: (state) => (adoptable(state) === undefined ? undefined : 'Adopt'),
	reasonAgainst: reserveThese.reasonAgainst,
	async begin({store: {getState, dispatch}, scanSelected}) {
		const process = adoptable(getState());
		const seen = process && (await scanSelected());
		if (process !== undefined && seen === undefined) {
			return undefined;
		}

		const target = seen && ownTargets(seen.scan, seen.gpus[0]!).find(({pid}) => pid === process?.pid);
		dispatch(
			target === undefined
				? openingOf(reserveThese, getState())!
				: {kind: 'opened', dialog: ask('adopt', {process: target, gpu: seen!.gpus[0]!})},
		);
		return undefined;
	},
	shellCommand: ({process}) => shellCommand(['canhazgpu', 'reserve', '--pid', String(process.pid)]),
	async perform({world, store}, {process: {pid, startTicks}}) {
		const {gpus, name} = await adoptProcess(world, {requester: store.getState().settings.requester, pid, startTicks});
		return succeeded(
			`adopted process ${pid}${name === undefined ? '' : ` (${sanitize(name)})`} on ${gpuList(gpus)}`,
			`canhazgpu reserve --pid ${pid}`,
		);
	},
	Dialog: ({dialog: {process, gpu, isBusy}}) => (
		<Confirm title={`Adopt on GPU ${gpu}`} question="Reserve its GPUs for this process until it ends?" isBusy={isBusy}>
			<Label tone="dim">{processLine(process)}</Label>
		</Confirm>
	),
});
