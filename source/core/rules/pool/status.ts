/** Combines a snapshot and an observation into one row per GPU, which all interfaces show. */
import {idleSecondsOf, isUnusedForCertain} from '../usage/idle.js';
import {beyondLimitOf, type BeyondLimit} from '../limits/slack.js';
import {keptUntil, parkedOf, warningOf, type Parked, type Warning} from '../policy/idle-rules.js';
import {holdingsOn, type Holding, type SharedRecord} from '../leases/holdings.js';
import {latestEndOf} from '../leases/liveness.js';
import {modelOf, type Model} from '../processes/served-model.js';
import {overuseSecondsOf, usageOfShares} from '../usage/share-usage.js';
import {labelOf, ownerOf} from '../leases/ownership.js';
import type {
	Drain,
	GpuProcess,
	GpuReading,
	GpuRecord,
	HealthProblem,
	Lease,
	Observation,
	Pool,
	Snapshot,
} from '../../model/types.js';
import {cleanRuleOf} from '../usage/cleanliness.js';
import {judgeUsage, sharedContainers, squattersOf, usersOf, wordsOnce, type GpuUsage} from '../usage/gpu-usage.js';
import {isGone, isWhole, modeDoubtOf} from '../mig/instances.js';
import {leftByJob, type LeftByJob} from '../usage/left-processes.js';
import {maskSecrets} from '../processes/secrets.js';

export type GpuState = 'available' | 'in-use' | 'unreserved' | 'error';

type LeaseFacts = {
	readonly lease: Lease;
	readonly owner: string;
	readonly label?: string | undefined;
	readonly heldSeconds: number;
	readonly heartbeatAgeSeconds?: number | undefined;
	/** Set if the last heartbeat is in the future because a clock was set back. */
	readonly isHeartbeatAhead?: true | undefined;
	readonly remainingSeconds?: number | undefined;
	readonly idleSeconds?: number | undefined;
	/** The warning of an idle reservation. Undefined while the GPU is seen in use. */
	readonly warning?: Warning | undefined;
	/** Set if the reservation has held memory without load for hours and this GPU still does. */
	readonly parked?: Parked | undefined;
	readonly keepUntil?: number | undefined;
	readonly beyondLimit?: BeyondLimit | undefined;
};

export type ShareRow = LeaseFacts & {
	readonly memoryUsedMiB: number | undefined;
	/** How long the share has used more memory than it reserved. Undefined until three consecutive scans have seen the overuse. */
	readonly overSeconds?: number | undefined;
	readonly processes: readonly GpuProcess[];
	readonly model?: Model | undefined;
	readonly isGone?: true;
};

/** Facts about one GPU. The fields of `LeaseFacts` are only set if a single lease has the whole GPU. */
export type StatusRow = Partial<LeaseFacts> & {
	readonly index: number;
	readonly state: GpuState;
	readonly shares?: readonly ShareRow[];
	readonly capacityMiB?: number | undefined;
	/** Seconds since a share of the GPU last ended or, if none has, since the GPU became shared. */
	readonly sharesSettledSeconds?: number;
	readonly freeSeconds?: number;
	readonly lastReleased?: number;
	readonly reading?: GpuReading;
	readonly use: GpuUsage;
	/** Processes on the GPU, with masked secrets. Also empty if the processes are unknown, that is, if `reading.processes` is undefined. */
	readonly processes: readonly GpuProcess[];
	readonly model?: Model;
	/** Accounts that use the GPU without a lease. Empty if the users are unknown. */
	readonly unreservedUsers: readonly string[];
	readonly left?: LeftByJob | undefined;
	readonly squatters: readonly GpuProcess[];
	readonly drain?: Drain;
	readonly health: readonly HealthProblem[];
	readonly problem?: string;
};

type Seen = Pick<StatusRow, 'index' | 'reading' | 'use' | 'processes' | 'model' | 'drain' | 'health'>;

/** Returns why the GPU is not granted although it may work, such as `drained: fan` or `Xid 79`. */
export function cautionOf({drain, health}: Pick<StatusRow, 'drain' | 'health'>): string | undefined {
	const drained = drain && (drain.reason === undefined ? 'drained' : `drained: ${drain.reason}`);
	const words = [drained, ...health.map((problem) => problem.words)].filter((word) => word !== undefined);
	return words.length === 0 ? undefined : words.join('; ');
}

const withoutSecrets = (process: GpuProcess): GpuProcess => ({
	...process,
	...(process.commandLine !== undefined && {commandLine: maskSecrets(process.commandLine)}),
	...(process.ancestors !== undefined && {ancestors: process.ancestors.map((line) => maskSecrets(line))}),
});

type Shown = Pick<Seen, 'processes' | 'model'>;

const shown = new WeakMap<GpuReading, Shown>();

/** Returns the processes of a reading with masked secrets, and their model. Computed once for each reading, because the monitor makes rows every second. */
function shownProcesses(reading: GpuReading): Shown {
	const {processes = []} = reading;
	const facts = shown.get(reading) ?? {
		processes: processes.map((process) => withoutSecrets(process)),
		model: modelOf(processes),
	};
	shown.set(reading, facts);
	return facts;
}

const noProcesses: Shown = {processes: []};

const isOnlyDrained = (row: StatusRow): boolean =>
	row.state === 'error' && row.drain !== undefined && row.health.length === 0 && row.problem === cautionOf(row);

export type ShownState = GpuState | 'drained';

/** Returns the state to show to people. For a drained GPU, people see `drained`, and scripts get `error`. */
export const shownStateOf = (row: StatusRow): ShownState => (isOnlyDrained(row) ? 'drained' : row.state);

const clockSkewSeconds = 60;

type Use = {
	readonly idleSeconds: number | undefined;
	readonly isUsed: boolean;
	/** Whether the GPU holds memory and has no load. */
	readonly isPaused: boolean;
};

function factsOf(lease: Lease, snapshot: Snapshot, {idleSeconds, isUsed, isPaused}: Use): LeaseFacts {
	const {now} = snapshot;
	const end = latestEndOf(lease);
	const heartbeatAge =
		lease.type === 'run' && lease.lastHeartbeat !== undefined ? now - lease.lastHeartbeat : undefined;
	return {
		lease,
		owner: ownerOf(lease),
		label: labelOf(lease),
		heldSeconds: Math.max(0, now - lease.startTime),
		heartbeatAgeSeconds: heartbeatAge === undefined ? undefined : Math.max(0, heartbeatAge),
		isHeartbeatAhead: heartbeatAge !== undefined && heartbeatAge < -clockSkewSeconds ? true : undefined,
		remainingSeconds: end === undefined ? undefined : Math.max(0, end - now),
		idleSeconds,
		warning: isUsed ? undefined : warningOf(lease, snapshot),
		parked: isPaused ? parkedOf(lease, snapshot) : undefined,
		keepUntil: keptUntil(lease, snapshot),
		beyondLimit: beyondLimitOf(lease, snapshot),
	};
}

const heldProblem = (seen: Seen): string | undefined =>
	seen.use.kind === 'failed' && seen.reading !== undefined ? seen.use.why : cautionOf(seen);

function leasedRow(seen: Seen, facts: LeaseFacts, shared: ReadonlySet<string>): StatusRow {
	return {
		...seen,
		...facts,
		state: 'in-use',
		unreservedUsers: [],
		squatters: squattersOf(seen.processes, facts.owner, shared),
		problem: heldProblem(seen),
	};
}

/** A time in the future also counts as past, because the store's clock may have been set back. */
function settledSecondsOf({shares, shareEnded = -Infinity}: SharedRecord, {now}: Snapshot): number {
	const firstStart = Math.min(...shares.map(({startTime}) => startTime));
	return Math.min(Math.abs(now - shareEnded), Math.abs(now - firstStart));
}

/** An owner that matches no account. */
const noOwner = '';

function sharedRow(
	seen: Seen,
	record: SharedRecord,
	factsOfHolding: (holding: Holding) => LeaseFacts,
	{snapshot, shared}: RowContext,
): StatusRow {
	const {reading} = seen;
	const {shares, others} = usageOfShares(
		record.shares,
		reading?.processes === undefined ? undefined : seen.processes,
		reading,
	);
	// On a GPU split by MIG, the owner of one instance has no right to the rest of the GPU, so no owner is exempt.
	const isSplit = record.shares.every(({mig}) => mig !== undefined);
	return {
		...seen,
		state: 'in-use',
		shares: holdingsOn(record).map((holding, position) => {
			const {memoryUsedMiB, processes} = shares[position]!;
			const {mig, leaseId} = holding.lease;
			return {
				...factsOfHolding(holding),
				memoryUsedMiB,
				overSeconds: overuseSecondsOf(snapshot, record.index, leaseId),
				processes,
				model: modelOf(processes),
				...(mig !== undefined && isGone(reading, mig) && {isGone: true}),
			};
		}),
		capacityMiB: record.capacityMiB,
		sharesSettledSeconds: settledSecondsOf(record, snapshot),
		unreservedUsers: [],
		squatters: squattersOf(others, isSplit ? noOwner : ownerOf(record.shares[0]!), shared),
		problem: heldProblem(seen),
	};
}

function unleasedRow(seen: Seen, record: Extract<GpuRecord, {kind: 'free'}>, snapshot: Snapshot): StatusRow {
	const {lastReleased} = record;
	const row = {
		...seen,
		lastReleased,
		freeSeconds: lastReleased === undefined ? undefined : Math.max(0, snapshot.now - lastReleased),
		unreservedUsers: [],
		squatters: [],
	};
	const caution = cautionOf(seen);
	switch (seen.use.kind) {
		case 'idle':
		case 'unread': {
			return caution === undefined ? {...row, state: 'available'} : {...row, state: 'error', problem: caution};
		}

		case 'used': {
			return {
				...row,
				state: 'unreserved',
				unreservedUsers: usersOf(seen.processes),
				left: leftByJob(record, seen.processes),
				problem: caution,
			};
		}

		case 'unknown':
		case 'failed': {
			const why = [caution, seen.use.why].filter((words) => words !== undefined);
			return {...row, state: 'error', problem: wordsOnce(why).join('; ')};
		}
	}
}

type RowContext = {
	readonly snapshot: Snapshot;
	readonly observation: Observation;
	readonly memoryThresholdMiB: number;
	readonly shared: ReadonlySet<string>;
};

/** Returns the use to show for a GPU. A GPU with an unknown MIG mode is not shown as free. */
function usageShown(
	{kind}: GpuRecord,
	reading: GpuReading | undefined,
	{snapshot, memoryThresholdMiB}: RowContext,
): GpuUsage {
	if (kind !== 'free') {
		return judgeUsage(reading, memoryThresholdMiB);
	}

	const use = judgeUsage(reading, memoryThresholdMiB, cleanRuleOf(snapshot));
	const why = reading && modeDoubtOf(reading);
	return use.kind === 'idle' && why !== undefined ? {kind: 'unknown', why} : use;
}

function rowOf(record: GpuRecord, context: RowContext): StatusRow {
	const {snapshot, observation, memoryThresholdMiB} = context;
	const reading = observation.gpus.find((gpu) => gpu.index === record.index);
	const use: GpuUsage =
		observation.failure === undefined
			? usageShown(record, reading, context)
			: {kind: 'unknown', why: observation.failure.message};
	const seen: Seen = {
		index: record.index,
		reading,
		use,
		...(reading === undefined ? noProcesses : shownProcesses(reading)),
		drain: snapshot.drains.get(record.index),
		health: reading?.health ?? [],
	};
	const factsOfHolding = (holding: Holding): LeaseFacts =>
		factsOf(holding.lease, snapshot, {
			idleSeconds: idleSecondsOf(observation, holding, {reading, now: snapshot.now, memoryThresholdMiB}),
			isUsed: isUnusedForCertain(reading, memoryThresholdMiB) === false,
			isPaused: use.kind === 'used' && reading?.utilizationPercent === 0,
		});
	switch (record.kind) {
		case 'leased': {
			return leasedRow(seen, factsOfHolding(record), context.shared);
		}

		case 'shared': {
			return sharedRow(seen, record, factsOfHolding, context);
		}

		case 'free': {
			return unleasedRow(seen, record, snapshot);
		}

		case 'garbage': {
			return {
				...seen,
				state: 'error',
				unreservedUsers: [],
				squatters: [],
				problem: `unreadable record: ${record.problem}`,
			};
		}
	}
}

export function statusRows(
	snapshot: Snapshot,
	observation: Observation,
	memoryThresholdMiB: number,
): readonly StatusRow[] {
	const held = snapshot.gpus.flatMap((record) =>
		record.kind === 'leased'
			? [
					{
						owner: ownerOf(record.lease),
						processes: observation.gpus.find(({index}) => index === record.index)?.processes ?? [],
					},
				]
			: [],
	);
	const context = {snapshot, observation, memoryThresholdMiB, shared: sharedContainers(held)};
	return snapshot.gpus.map((record) => rowOf(record, context));
}

export type View = {
	readonly pool: Pool;
	readonly snapshot: Snapshot;
	readonly observation: Observation;
	readonly rows: readonly StatusRow[];
};

export type WholeGpus = {readonly total: number; readonly free: number; readonly split: number};

export function wholeGpus(rows: readonly StatusRow[]): WholeGpus {
	const whole = rows.filter(({reading}) => isWhole(reading) !== false);
	return {
		total: whole.length,
		free: whole.filter(({state}) => state === 'available').length,
		split: rows.length - whole.length,
	};
}

/** Numbers of free GPUs. GPUs split by MIG are counted separately, because they cannot be granted whole. */
export type FreeGpus = {readonly whole: number; readonly split: number};

export function freeGpus(rows: readonly StatusRow[]): FreeGpus {
	const free = rows.filter(({state}) => state === 'available');
	const {total: whole, split} = wholeGpus(free);
	return {whole, split};
}
