/** The target of a key in the host table: the selected line, which belongs to this host or to another host. */
import {sanitize} from '../../../format/text/text.js';
import {allHostLines, holderOf, type GpuLine, type HostLine} from '../../state/hosts/lines.js';
import {hostLines, selectedHostLine} from '../../state/hosts/rows.js';
import type {State} from '../../state/state.js';
import type {AskingDialog} from '../../state/dialogs.js';
import {noFilter} from '../../state/table/state.js';
import {reasonAgainstDoing} from '../reasons.js';
import type {MonitorCommand, MonitorCommandOf} from '../command.js';

/** Returns a state for the commands of the GPU table: only the GPU of the line is selected, and the table has no tags, filter or folded rows. */
const ownState = (state: State, line: HostLine): State => ({
	...state,
	view: {...state.view, isFolded: false},
	gpus: {
		...state.gpus,
		filter: noFilter,
		tags: new Set(),
		selected: line.kind === 'gpu' ? {keys: [`#${line.gpu.gpu_id}`], place: line.gpu.gpu_id} : state.gpus.selected,
	},
});

/** The two variants of a command. `own` acts on this host, as in the GPU table. The other members act on other hosts, by ssh. */
type Pair<Asking> = {
	readonly own: Pick<MonitorCommand, 'reasonAgainst' | 'open'>;
	readonly reasonAgainst: (line: HostLine, state: State) => string | undefined;
	readonly open: (line: HostLine, state: State) => Asking;
};

/** Combines the variants. The host of the selected line decides which is used. The dialog for this host belongs to the command of the GPU table. */
export const byHost = <Asking extends AskingDialog>({
	own,
	reasonAgainst,
	open,
}: Pair<Asking>): Pick<MonitorCommandOf<Asking>, 'reasonAgainst' | 'open'> => ({
	reasonAgainst(state) {
		const line = selectedHostLine(state);
		if (line === undefined) {
			return hostLines(state).length === 0 && allHostLines(state).length > 0
				? 'No GPU is shown: Esc clears the filter'
				: 'There are no hosts yet: name some in the setting remote_hosts';
		}

		if (line.isOwn && line.kind === 'note') {
			return 'The GPUs were not scanned yet';
		}

		const reason = line.isOwn && line.kind === 'gpu' ? undefined : reasonAgainst(line, state);
		return reasonAgainstDoing(state) ?? reason ?? (line.isOwn ? own.reasonAgainst(ownState(state, line)) : undefined);
	},
	open(state) {
		const line = selectedHostLine(state)!;
		return line.isOwn ? (own.open!(ownState(state, line)) as Asking) : open(line, state);
	},
});

/** The GPUs of a reservation on another host, as shown when the dialog was opened. */
export type RemoteHolding = {
	readonly host: string;
	readonly gpus: readonly number[];
	/** The id of the reservation. Undefined if that host's version reports no id, or if the id is unsafe in a command. */
	readonly leaseId: string | undefined;
	readonly label: string | undefined;
};

/** Matches safe ids. Ids are checked, because they come from another host and become part of a shell command. */
const leaseIdPattern = /^\w[\w\-]{0,63}$/v;

export const remoteHolding = ({host, gpu}: GpuLine, gpus: readonly number[] = [gpu.gpu_id]): RemoteHolding => ({
	host,
	gpus,
	leaseId: leaseIdPattern.test(gpu.lease_id ?? '') ? gpu.lease_id : undefined,
	label: holderOf(gpu)?.label,
});

/** Returns why a reservation on another host cannot be changed from this host. Undefined if it can. */
export function reasonAgainstHeld(line: HostLine, action: 'release' | 'extend'): string | undefined {
	if (line.kind !== 'gpu') {
		return `This line is a host: select a GPU to ${action} it`;
	}

	const {host, gpu, state, isLast} = line;
	const name = `GPU ${gpu.gpu_id} of ${sanitize(host)}`;
	if (isLast) {
		return `${sanitize(host)} does not answer, so it is unknown who holds its GPUs now`;
	}

	if (state === 'mine') {
		return action === 'extend' && gpu.reservation_type === 'run'
			? `${name} is held by a running job: it is released when the job ends`
			: undefined;
	}

	const holder = gpu.user;
	return holder === undefined
		? `${name} is not reserved: there is nothing to ${action}`
		: `${name} is held by ${holder}: only the holder can ${action} it`;
}

export const gpuLinesOf = (state: State, host: string): readonly GpuLine[] =>
	allHostLines(state).filter((line) => line.kind === 'gpu' && line.host === host) as readonly GpuLine[];

/** Returns the GPUs of a cluster by node. Undefined for a host that is not a cluster, or whose GPUs are unknown. */
export function nodesOf(state: State, host: string): ReadonlyMap<string, readonly GpuLine[]> | undefined {
	const nodes = Map.groupBy(
		gpuLinesOf(state, host).filter(({gpu}) => gpu.node !== undefined),
		({gpu}) => gpu.node!,
	);
	return nodes.size === 0 ? undefined : nodes;
}

export const gpusOfReservation = (state: State, {host, gpu}: GpuLine): readonly number[] =>
	gpu.lease_id === undefined
		? [gpu.gpu_id]
		: gpuLinesOf(state, host)
				.filter((line) => line.gpu.lease_id === gpu.lease_id)
				.map((line) => line.gpu.gpu_id);
