import {holdingsIn, holdingsOn} from '../../core/rules/leases/holdings.js';
import {latestEndOf} from '../../core/rules/leases/liveness.js';
import {wantedOf} from '../../core/rules/queue/eligible.js';
import {labelOf, mayChange, ownerOf, owns} from '../../core/rules/leases/ownership.js';
import {limitedNamesIn} from '../../core/rules/limits/diagnosis.js';
import {definitionOf} from '../../core/rules/policy/keys.js';
import {limitKeyFor, limitNames} from '../../core/rules/policy/limit-keys.js';
import {instancesOf, instanceText} from '../../core/rules/mig/instances.js';
import {inventory} from '../../core/rules/allocation/instances.js';
import type {JobRow} from '../../core/rules/jobs/rows.js';
import type {
	AuditEntry,
	GpuReading,
	GpuRecord,
	Lease,
	QueueEntry,
	Requester,
	Snapshot,
} from '../../core/model/types.js';
import {shortDuration} from '../../format/text/durations.js';
import {sanitize, shownNote} from '../../format/text/text.js';
import {wantedText} from '../../format/queue/waiting-progress.js';
import type {KnownKind} from '../command.js';
import type {Candidate} from './words.js';

type Known = {
	readonly requester: Requester;
	readonly hosts: readonly string[];
	readonly snapshot?: Snapshot;
	readonly audit: readonly AuditEntry[];
	readonly readings?: readonly GpuReading[] | undefined;
	/** The user's jobs that wait, run, or ended during the last day. */
	readonly jobs?: readonly JobRow[] | undefined;
};

function holdingText(lease: Lease, {now}: Snapshot, requester: Requester): string {
	const whose = owns(requester, lease) ? [] : [`held by ${ownerOf(lease)}`];
	const time = latestEndOf(lease);
	const end = time === undefined ? 'ends with its job' : `ends in ${shortDuration(time - now)}`;
	return [...whose, end, ...(lease.note === undefined ? [] : [shownNote(lease.note)])].join(', ');
}

function aboutGpu(record: GpuRecord, {drains}: Snapshot): string {
	const holders = holdingsOn(record).map(({lease}) => ownerOf(lease));
	if (holders.length > 0) {
		return `${record.kind === 'shared' ? 'shared by' : 'held by'} ${[...new Set(holders)].join(', ')}`;
	}

	if (record.kind === 'garbage') {
		return 'its record cannot be read';
	}

	return drains.has(record.index) ? 'out of service' : 'not reserved';
}

/** Returns the GPUs whose lease the user can change. For a GPU that is split by MIG, returns the user's instances. */
const ownGpus = (snapshot: Snapshot, requester: Requester, isMeant: (lease: Lease) => boolean): readonly Candidate[] =>
	snapshot.gpus.flatMap((record) => {
		const leases = holdingsOn(record)
			.map((holding) => holding.lease)
			.filter((held) => mayChange(requester, held) && held.partialQueueId === undefined && isMeant(held));
		const ofInstances = leases.filter(({mig}) => mig?.number !== undefined);
		return (ofInstances.length > 0 ? ofInstances : leases.slice(0, 1)).map((lease) => ({
			word: lease.mig?.number === undefined ? String(record.index) : nameOf(record.index, lease.mig),
			about: holdingText(lease, snapshot, requester),
		}));
	});

const ownLeases = (snapshot: Snapshot, requester: Requester): readonly Candidate[] =>
	new Map(
		holdingsIn(snapshot.gpus).flatMap(({lease}) =>
			lease.leaseId !== undefined && lease.partialQueueId === undefined && mayChange(requester, lease)
				? [[lease.leaseId, {word: lease.leaseId, about: holdingText(lease, snapshot, requester)}] as const]
				: [],
		),
	)
		.values()
		.toArray();

const nameOf = (gpu: number, {number}: {readonly number?: number | undefined}): string => instanceText({gpu, number});

function parts(snapshot: Snapshot, readings: readonly GpuReading[] = []): readonly Candidate[] {
	return snapshot.gpus.flatMap((record) => {
		const instances = instancesOf(readings.find(({index}) => index === record.index)) ?? [];
		const holdings = holdingsOn(record);
		return instances.length === 0
			? [{word: String(record.index), about: aboutGpu(record, snapshot)}]
			: instances.map((instance) => {
					const holder = holdings.find(({lease}) => lease.mig?.uuid === instance.uuid);
					const whose = holder === undefined ? 'not reserved' : `held by ${ownerOf(holder.lease)}`;
					return {word: instanceText(instance), about: [instance.profile, whose].filter(Boolean).join(', ')};
				});
	});
}

const heldIn = ({gpus, queue}: Snapshot): ReadonlyArray<Lease | QueueEntry> => [
	...holdingsIn(gpus).map(({lease}) => lease),
	...queue.flatMap((record) => (record.kind === 'entry' ? [record.entry] : [])),
];

/** Returns limits for the users who hold GPUs or wait, and for the users and groups that have limits. */
function namedLimits(snapshot: Snapshot): readonly Candidate[] {
	const users = heldIn(snapshot).map((held) => ({kind: 'user' as const, name: ownerOf(held)}));
	const keys = [...users, ...limitedNamesIn(snapshot)].flatMap(({kind, name}) =>
		limitNames.map((limit) => limitKeyFor({kind, name, limit})),
	);
	return [...new Set(keys)].flatMap((key) =>
		(definitionOf(key)?.completes ?? []).map((value) => ({word: `${key}=${value}`})),
	);
}

/** Whether the candidates of a kind depend on the stored jobs. */
export const isAboutJobs = (kind: KnownKind): boolean => kind === 'jobs' || kind === 'single-jobs';

const aboutJob = ({id, state, command}: JobRow): Candidate => ({word: id, about: `${state}: ${command}`});

/** Returns the ids of jobs and arrays, each array before the first of its jobs. */
const jobsAndArrays = (jobs: readonly JobRow[]): readonly Candidate[] =>
	jobs.flatMap((job, index) => {
		const {array, command} = job;
		const isFirst = array !== undefined && jobs.findIndex((other) => other.array?.id === array.id) === index;
		return isFirst
			? [{word: String(array.id), about: `all jobs of the array: ${command}`}, aboutJob(job)]
			: [aboutJob(job)];
	});

const kinds: Readonly<Record<Exclude<KnownKind, 'hosts'>, (snapshot: Snapshot, known: Known) => readonly Candidate[]>> =
	{
		gpus: (snapshot) =>
			snapshot.gpus.map((record) => ({word: String(record.index), about: aboutGpu(record, snapshot)})),
		parts: (snapshot, {readings}) => parts(snapshot, readings),
		'mig-profiles': ({gpus}, {readings = []}) =>
			inventory(readings, gpus).map(({profile, free, total}) => ({word: profile, about: `${free} of ${total} free`})),
		'own-gpus': (snapshot, {requester}) => ownGpus(snapshot, requester, () => true),
		'timed-gpus': (snapshot, {requester}) => ownGpus(snapshot, requester, ({expiryTime}) => expiryTime !== undefined),
		'drained-gpus': ({drains}) =>
			Array.from(drains, ([index, {reason}]) => ({word: String(index), about: reason ?? 'out of service'})),
		'named-limits': (snapshot) => namedLimits(snapshot),
		'policy-keys': ({policy}) =>
			Array.from(policy, ([key, {value, by}]) => ({
				word: key,
				about: by === undefined ? value : `${value}, set by ${by}`,
			})),
		users: (snapshot, {audit}) =>
			named([
				...heldIn(snapshot).flatMap((held) => [ownerOf(held), labelOf(held)]),
				...audit.flatMap(({account, label, owner}) => [account, label, owner]),
			]),
		labels: (snapshot, {audit, requester}) =>
			named([
				...heldIn(snapshot)
					.filter((held) => owns(requester, held))
					.map((held) => labelOf(held)),
				...audit.filter(({account}) => account === requester.account).map(({label}) => label),
			]),
		jobs: (_, {jobs = []}) => jobsAndArrays(jobs),
		'single-jobs': (_, {jobs = []}) => jobs.map((job) => aboutJob(job)),
		leases: (snapshot, {requester}) => ownLeases(snapshot, requester),
		'queue-entries': ({queue, now}, {requester}) =>
			queue.flatMap((record) =>
				record.kind === 'entry' && mayChange(requester, record.entry)
					? [{word: record.id, about: aboutEntry(record.entry, now)}]
					: [],
			),
	};

function named(names: ReadonlyArray<string | undefined>): readonly Candidate[] {
	const unique = new Set(names.filter((name) => name !== undefined));
	return [...unique].toSorted((a, b) => a.localeCompare(b, 'en')).map((word) => ({word}));
}

const aboutEntry = (entry: QueueEntry, now: number): string =>
	`for ${wantedText(wantedOf(entry))}, waiting for ${shortDuration(now - entry.enqueueTime)}`;

/** Whether a word has no character that a shell interprets. A word can be chosen by other people, and becomes part of the user's command line. */
const isHarmless = ({word}: Candidate): boolean =>
	/^[\p{Letter}\p{Number}_][\p{Letter}\p{Number}%+,\-.:=@_]*$/v.test(word);

export function candidatesOf(kind: KnownKind, known: Known): readonly Candidate[] {
	const {snapshot, hosts} = known;
	const ofPool = (): readonly Candidate[] =>
		kind === 'hosts' || snapshot === undefined ? [] : kinds[kind](snapshot, known);
	return (kind === 'hosts' ? hosts.map((word) => ({word})) : ofPool())
		.filter((candidate) => isHarmless(candidate))
		.map(({word, about}: Candidate) => ({word, about: about === undefined ? undefined : sanitize(about)}));
}
