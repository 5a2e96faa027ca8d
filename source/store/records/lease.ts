import type {Write} from '../../core/model/plan.js';
import {leaseTypes, type EndedLease, type GpuRecord, type Lease, type LeftProcess} from '../../core/model/types.js';
import {instanceRecord, readInstance} from './instances.js';
import {readRecord, type Fields} from './json/fields.js';
import {idleRecord, parkedRecord, readIdle, readKeepUntil, readParked, timeIn} from './idle.js';
import {readSlack, slackRecord} from './slack.js';
import {holderFields, jobFields, readBoot, readProcess, readSilence, silenceRecord} from './process.js';
import {formatRfc3339, wholePast, wholePromise} from './json/time.js';
import {optionalText, recordOf, requiredText, writeRecord} from './json/write.js';

type SharedRecord = Extract<GpuRecord, {kind: 'shared'}>;

type Part = Pick<Lease, 'memoryMiB' | 'mig'>;

function readLease(fields: Fields, user: string, part?: Part): Lease {
	const lastHeartbeat = fields.time('last_heartbeat');
	const lease: Lease = {
		user,
		actualUser: fields.text('actual_user'),
		type: fields.choice('type', leaseTypes),
		// If the start time is missing, uses the last heartbeat: the lease cannot have started later.
		startTime: fields.required('start_time', fields.time('start_time') ?? lastHeartbeat),
		lastHeartbeat,
		expiryTime: fields.end('expiry_time'),
		endsBy: fields.end('ends_by'),
		remindedOf: fields.end('reminded_of'),
		idle: readIdle(fields),
		parked: readParked(fields),
		keepUntil: readKeepUntil(fields),
		slack: readSlack(fields),
		note: fields.text('note'),
		via: fields.anyText('via'),
		model: fields.text('model'),
		partialQueueId: fields.text('partial_queue_id'),
		leaseId: fields.text('lease_id'),
		machine: fields.text('machine'),
		bootId: readBoot(fields),
		holder: readProcess(fields, 'pid'),
		job: readProcess(fields, 'job_pid'),
		children: readChildren(fields),
		silence: readSilence(fields),
	};
	// The Go program also writes this field into leases, where it has no meaning. Reading it keeps it out of the unknown fields.
	fields.time('last_released');
	const unknownFields = fields.rest();
	return unknownFields === undefined && part === undefined
		? lease
		: {...lease, ...part, ...(unknownFields !== undefined && {unknownFields})};
}

/** Reads the last lease of a free GPU. Returns undefined if the lease is missing or unreadable, which does not affect the GPU. */
function readEnded(fields: Fields): EndedLease | undefined {
	const ended = fields.object('ended');
	const reason = ended?.anyText('reason');
	const leaseId = ended?.anyText('lease_id');
	const account = ended?.anyText('user');
	const left = processesIn(ended?.object('left'));
	return reason === undefined
		? undefined
		: {
				reason,
				...(leaseId !== undefined && {leaseId}),
				...(account !== undefined && {account}),
				...(left.length > 0 && {left}),
			};
}

const mostProcesses = 64;

/** Reads processes that are stored as start times by pid. Skips invalid entries. */
const processesIn = (fields: Fields | undefined): readonly LeftProcess[] =>
	Object.entries(fields?.rest() ?? {})
		.slice(0, mostProcesses)
		.flatMap(([pid, startTicks]) =>
			Number.isSafeInteger(Number(pid)) && Number.isSafeInteger(startTicks)
				? [{pid: Number(pid), startTicks: Number(startTicks)}]
				: [],
		);

const processesRecord = (processes: readonly LeftProcess[]) =>
	Object.fromEntries(processes.slice(0, mostProcesses).map(({pid, startTicks}) => [pid, startTicks]));

function readChildren(fields: Fields): readonly LeftProcess[] | undefined {
	const children = processesIn(fields.object('children'));
	return children.length === 0 ? undefined : children;
}

/** The label in the record of a shared GPU. To the Go program and old versions, this user has reserved the GPU, so they neither grant nor free it. */
const sharedUser = '(shared)';

/** The end in the record of a shared GPU: the year 2100. It is unrelated to the ends of the shares. */
const farSecond = 4_102_444_800;

function readShared(fields: Fields): Omit<SharedRecord, 'index' | 'raw'> {
	const userOf = (share: Fields): string => share.required('user', share.text('user'));
	const shares = fields.records('shares', (share) =>
		readLease(share, userOf(share), {memoryMiB: share.required('memory_mib', share.quantity('memory_mib'))}),
	);
	const instances = fields.records('instances', (share) =>
		readLease(share, userOf(share), {mig: readInstance(share.required('mig', share.object('mig')))}),
	);
	const capacityMiB = fields.quantity('capacity_mib');
	const shareEnded = timeIn(fields, 'share_ended');
	// These fields are only for the Go program, and are ignored here in whatever format it has written them.
	for (const name of ['type', 'start_time', 'expiry_time', 'last_heartbeat', 'last_released']) {
		fields.ignore(name);
	}

	const unknownFields = fields.rest();
	return {
		kind: 'shared',
		shares: [...shares, ...instances],
		...(capacityMiB !== undefined && {capacityMiB}),
		...(shareEnded !== undefined && {shareEnded}),
		...(unknownFields !== undefined && {unknownFields}),
	};
}

/** Cache of the last decoded record of each GPU, because most records are unchanged between reads. */
const lastRead: Array<GpuRecord | undefined> = [];

/** Decodes the record of a GPU. Never throws: an unreadable record is `garbage`, with the reason. `raw` is undefined if there is no record. */
export function decodeGpu(index: number, raw: string | undefined): GpuRecord {
	if (raw === undefined || raw === '') {
		return {kind: 'free', index, raw};
	}

	const last = lastRead[index];
	if (last?.raw === raw) {
		return last;
	}

	const record = readGpu(index, raw);
	lastRead[index] = record;
	return record;
}

function readGpu(index: number, raw: string): GpuRecord {
	const result = readRecord(raw, (fields): GpuRecord => {
		const user = fields.text('user');
		if (user === sharedUser && (fields.hasList('shares') || fields.hasList('instances'))) {
			return {index, raw, ...readShared(fields)};
		}

		if (user !== undefined) {
			return {kind: 'leased', index, raw, lease: readLease(fields, user)};
		}

		const lastReleased = fields.time('last_released');
		const ended = readEnded(fields);
		return {
			kind: 'free',
			index,
			raw,
			...(lastReleased !== undefined && {lastReleased}),
			...(ended !== undefined && {ended}),
		};
	});
	return 'problem' in result ? {kind: 'garbage', index, raw, problem: result.problem} : result.value;
}

/** Returns the stored fields of a lease. Start and heartbeat are rounded down, so that they are never later than the event. The end is rounded up. */
const leaseFields = (lease: Lease): Parameters<typeof recordOf> => [
	{
		user: requiredText(lease.user, 'The label of a lease'),
		actual_user: optionalText(lease.actualUser),
		start_time: wholePast(lease.startTime),
		last_heartbeat: lease.lastHeartbeat === undefined ? undefined : wholePast(lease.lastHeartbeat),
		expiry_time: lease.expiryTime === undefined ? undefined : wholePromise(lease.expiryTime),
		type: lease.type,
		note: optionalText(lease.note),
		via: optionalText(lease.via),
		model: optionalText(lease.model),
		memory_mib: lease.memoryMiB,
		mig: instanceRecord(lease.mig),
		partial_queue_id: optionalText(lease.partialQueueId),
		lease_id: optionalText(lease.leaseId),
		machine: optionalText(lease.machine),
		boot_id: optionalText(lease.bootId),
		...(lease.holder && holderFields(lease.holder)),
		...(lease.job && jobFields(lease.job)),
		children: lease.children && processesRecord(lease.children),
		silence: silenceRecord(lease.silence),
		ends_by: lease.endsBy === undefined ? undefined : wholePromise(lease.endsBy),
		reminded_of: lease.remindedOf === undefined ? undefined : wholePromise(lease.remindedOf),
		idle: idleRecord(lease.idle),
		parked: parkedRecord(lease.parked),
		keep_until: lease.keepUntil === undefined ? undefined : wholePromise(lease.keepUntil),
		slack: slackRecord(lease.slack),
	},
	lease.unknownFields,
];

export const encodeLease = (lease: Lease): string => writeRecord(...leaseFields(lease));

const recordsOf = (leases: readonly Lease[]) =>
	leases.length === 0 ? undefined : leases.map((lease) => recordOf(...leaseFields(lease)));

/**
Encodes a shared GPU as one record, so that a commit protects all shares with one comparison. MIG instances are in a separate list. The Go program and
old versions, which do not know instances, see a GPU reserved by another user. Throws RangeError if there is no share.
*/
export function encodeShares({
	shares,
	capacityMiB,
	shareEnded,
	unknownFields,
}: Omit<Extract<Write, {kind: 'shares'}>, 'kind' | 'index'>): string {
	if (shares.length === 0) {
		throw new RangeError('A shared GPU to be stored has no share');
	}

	return writeRecord(
		{
			user: sharedUser,
			start_time: wholePast(Math.min(...shares.map(({startTime}) => startTime))),
			expiry_time: farSecond,
			type: 'manual',
			capacity_mib: capacityMiB,
			share_ended: shareEnded === undefined ? undefined : wholePast(shareEnded),
			shares: recordsOf(shares.filter(({mig}) => mig === undefined)),
			instances: recordsOf(shares.filter(({mig}) => mig !== undefined)),
		},
		unknownFields,
	);
}

/** Encodes a free GPU. Undefined if no record is needed. `ended` is nested, so that the id of the last lease is not mistaken for a current id. */
export const encodeFree = (lastReleased: number | undefined, ended?: EndedLease): string | undefined =>
	lastReleased === undefined
		? undefined
		: writeRecord({
				last_released: formatRfc3339(lastReleased),
				ended: ended && {
					reason: ended.reason,
					lease_id: optionalText(ended.leaseId),
					user: optionalText(ended.account),
					left: ended.left && processesRecord(ended.left),
				},
			});
