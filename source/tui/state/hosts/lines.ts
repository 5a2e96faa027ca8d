/** The lines of the host table: one for each GPU, one for each host with a problem, and the subtotals of each host. */
import {accountOn} from '../../../core/model/other-hosts.js';
import type {FreeGpus} from '../../../core/rules/pool/status.js';
import {isCalledIdle} from '../../../core/rules/usage/idle.js';
import {statusJson} from '../../../format/json/status-json.js';
import {noUsage} from '../../../format/status-labels.js';
import {fromCommandRows, type RemoteGpu} from '../../../format/hosts/remote-gpu.js';
import {withoutName} from '../../../format/tables/host-tables.js';
import type {MonitorState} from '../../../format/states.js';
import {sanitize} from '../../../format/text/text.js';
import type {SeenHost} from '../../ports.js';
import {monitorStateOf} from '../gpus/row-state.js';
import {remembering} from '../memo.js';
import {rowsOf, type State} from '../state.js';

/** Matches the address in an error of ssh, which is removed because the line already names the host. */
const sshPlace = /^ssh: connect to host \S+ port \d+: /v;

type LineOf<More> = More & {
	/** Identifies the GPU or the host, even if its line moves. */
	readonly key: string;
	readonly host: string;
	readonly isOwn: boolean;
};

export type GpuLine = LineOf<{
	readonly kind: 'gpu';
	readonly gpu: RemoteGpu;
	readonly state: MonitorState;
	/** When the values were reported, by the monitor's clock. */
	readonly atMs: number;
	/** Whether the values are the last known ones, because the host no longer answers. */
	readonly isLast: boolean;
}>;

export type NoteLine = LineOf<{
	readonly kind: 'note';
	readonly words: string;
	readonly level: 'asking' | 'problem' | 'remark';
	/** When a failing host last reported values, by the monitor's clock. */
	readonly valuesAtMs?: number;
}>;

export type GpuTotals = {
	readonly free: FreeGpus;
	readonly gpuCount: number;
	/** The mean utilization, from 0 to 1. Undefined if no GPU reports it. */
	readonly utilization: number | undefined;
	/** The sum of the memory in use, for GPUs whose total memory is known. */
	readonly memoryUsedMiB: number;
	/** The sum of the total memory. 0 if no GPU reports it. */
	readonly memoryTotalMiB: number;
};

export type TotalLine = LineOf<{
	readonly kind: 'total';
	readonly totals: GpuTotals;
	/** The number of waiting requests. Undefined if the host does not report it. */
	readonly waiting: number | undefined;
}>;

export type HostLine = GpuLine | NoteLine | TotalLine;

/** Returns the name that is shown as the host. If this host is a cluster, each of its GPUs is shown with the name of the GPU's node. */
export const namedHost = (line: HostLine): string =>
	line.kind === 'gpu' && line.isOwn ? (line.gpu.node ?? line.host) : line.host;

export const holdersOf = ({user, sharers = []}: RemoteGpu): readonly string[] =>
	user === undefined ? sharers : [user];

export type Holder = {readonly account: string; readonly label: string | undefined};

/** Returns the account and the label of the reservation. Undefined if nobody, or more than one user, holds the GPU. */
export function holderOf({user, accounts}: RemoteGpu): Holder | undefined {
	const account = accounts?.[0];
	return user === undefined || account === undefined
		? undefined
		: {account, label: user === account ? undefined : user.slice(`${account} (`.length, -')'.length)};
}

export const accountsOf = (gpu: RemoteGpu): readonly string[] => [
	...(gpu.accounts ?? []),
	...(gpu.unreserved_users ?? []),
	...(gpu.processes ?? []).flatMap(({user}) => user ?? []),
];

/** Whether a GPU is idle, by the same rule as in the host's own table. Without an idle time, uses the host's report that the GPU is unused. */
const isIdle = ({
	reservation_type: type,
	duration,
	idle_seconds: idleSeconds,
	validation_info: seen,
}: RemoteGpu): boolean =>
	isCalledIdle({
		type: type === 'manual' ? 'manual' : 'run',
		heldSeconds: duration === undefined ? undefined : duration / 1e9,
		idleSeconds,
		isUnused: idleSeconds !== undefined || seen?.includes(noUsage) === true,
	});

type StateOf = (gpu: RemoteGpu) => MonitorState;

const stateFor =
	(account: string): StateOf =>
	(gpu) => {
		if (gpu.state !== 'in-use') {
			return gpu.state;
		}

		if (gpu.held_for_queue !== undefined) {
			return 'waiting';
		}

		return gpu.accounts?.includes(account) === true ? 'mine' : isIdle(gpu) ? 'idle' : 'in-use';
	};

const gpuLines = (
	gpus: readonly RemoteGpu[],
	stateOf: StateOf,
	line: Pick<GpuLine, 'host' | 'isOwn' | 'atMs' | 'isLast'>,
): readonly GpuLine[] =>
	gpus.map((gpu) => ({
		kind: 'gpu',
		// The key is unique even if a host reports the same UUID twice.
		key: `${line.host} ${gpu.gpu_id} ${gpu.uuid ?? ''}`,
		gpu,
		state: stateOf(gpu),
		...line,
	}));

const noteLine = (
	host: string,
	words: string,
	level: NoteLine['level'],
	more: Partial<NoteLine> = {},
): readonly NoteLine[] => [{kind: 'note', key: host, host, isOwn: false, words, level, ...more}];

/** This host's GPUs, converted to the form in which other hosts report theirs. Cached, because the conversion would otherwise run every second. */
const ownGpus = remembering(
	(state: State) => [state.snapshot, state.observation, state.settings],
	(state) => {
		const {observation, nowMs, snapshot, settings} = state;
		const rows = observation === undefined ? [] : rowsOf(state);
		const shown = new Map(rows.map((row) => [row.index, monitorStateOf(row, settings.requester, true)]));
		return {
			gpus: (observation && fromCommandRows(statusJson(rows, observation), snapshot?.now ?? 0)) ?? [],
			// The state is the same as in the GPU table.
			stateOf: (({gpu_id: index}) => shown.get(index) ?? 'unknown') satisfies StateOf,
			atMs: nowMs,
		};
	},
);

/** Whether the values of this host may be outdated, because the store or the GPUs cannot be read. */
export const isOwnLast = ({scanFailure, connection}: State): boolean =>
	scanFailure !== undefined || connection.kind === 'lost';

function ownLines(state: State): readonly HostLine[] {
	const {hostname: host, hasNoPool} = state.settings;
	if (hasNoPool === true) {
		return [];
	}

	if (state.observation === undefined) {
		return noteLine(host, state.scanFailure?.message ?? 'scanning', 'asking', {isOwn: true});
	}

	const {gpus, stateOf, atMs} = ownGpus(state);
	return gpuLines(gpus, stateOf, {host, isOwn: true, atMs, isLast: isOwnLast(state)});
}

function linesOf(host: string, seen: SeenHost | undefined, ownAccount: string): readonly HostLine[] {
	if (seen === undefined) {
		return noteLine(host, 'asking', 'asking');
	}

	const {answer, before, answeredMs} = seen;
	if ('error' in answer) {
		const words = sanitize(withoutName(answer.error, host)).replace(sshPlace, 'ssh: ');
		const account = before?.answer.status.account ?? accountOn(host) ?? ownAccount;
		return before === undefined
			? noteLine(host, words, 'problem')
			: [
					...noteLine(host, words, 'problem', {valuesAtMs: before.answeredMs}),
					...gpuLines(before.answer.status.gpus, stateFor(account), {
						host,
						isOwn: false,
						atMs: before.answeredMs,
						isLast: true,
					}),
				];
	}

	const {gpus, account = accountOn(host) ?? ownAccount, remark} = answer.status;
	return [
		...(remark === undefined ? [] : noteLine(host, sanitize(remark), 'remark', {key: `${host} remark`})),
		...(gpus.length === 0 ? noteLine(host, 'its pool has no GPUs', 'problem') : []),
		...gpuLines(gpus, stateFor(account), {host, isOwn: false, atMs: answeredMs, isLast: false}),
	];
}

/** All lines, also those that the filter hides. This host comes first, then the other hosts in the order of the setting `remote_hosts`. */
export const allHostLines = remembering(
	(state: State) => [ownGpus(state), state.scanFailure, state.connection.kind, state.seenHosts],
	(state): readonly HostLine[] => {
		const {otherHosts = [], requester} = state.settings;
		const known = new Map(state.seenHosts.map((host) => [host.name, host]));
		return [...ownLines(state), ...otherHosts.flatMap((host) => linesOf(host, known.get(host), requester.account))];
	},
);
