import {
	leaseTypes,
	outageKinds,
	type EligibleInstance,
	type NotedOutage,
	type QueueEntry,
	type QueueRecord,
} from '../../core/model/types.js';
import {readRecord, type Fields} from './json/fields.js';
import {needRecord, readNeed} from './need.js';
import {holderFields, readBoot, readProcess, readSilence, silenceRecord} from './process.js';
import {formatRfc3339} from './json/time.js';
import {optionalText, requiredText, writeRecord} from './json/write.js';

const nanosecondsPerSecond = 1e9;

/** Converts seconds to nanoseconds. Multiplies whole seconds and the rest separately, because a single product would be off by a few nanoseconds. */
const nanoseconds = (seconds: number | undefined): number | undefined =>
	seconds === undefined
		? undefined
		: Math.floor(seconds) * nanosecondsPerSecond + Math.round((seconds % 1) * nanosecondsPerSecond);

/** Reads an outage noted in an entry. Returns undefined if the outage is unreadable, which does not affect the entry. */
function readOutage(item: Fields, mig?: NotedOutage['mig']): NotedOutage | undefined {
	const kind = outageKinds.find((known) => known === item.anyText('kind'));
	const gpu = item.whole('gpu');
	const since = item.time('since');
	return kind === undefined || gpu === undefined || since === undefined
		? undefined
		: {gpu, mig, kind, detail: item.anyText('detail'), since};
}

/** Reads the noted outages. Outages of MIG instances are stored separately, because old versions would treat the whole GPU as out of service. */
function readUnavailable(fields: Fields): readonly NotedOutage[] | undefined {
	const notes = [
		...fields.records('unavailable_gpus', (item) => readOutage(item)),
		...fields.records('unavailable_instances', (item) => {
			const uuid = item.anyText('uuid');
			return uuid === undefined ? undefined : readOutage(item, {uuid, number: item.whole('instance')});
		}),
	];
	const known = notes.filter((note) => note !== undefined);
	return known.length === 0 ? undefined : known;
}

function readEligibleInstances(fields: Fields): QueueEntry['eligibleInstances'] {
	if (!fields.hasList('eligible_instances')) {
		fields.ignore('eligible_instances');
		return undefined;
	}

	return fields
		.records('eligible_instances', (one) => ({gpu: one.whole('gpu'), uuid: one.anyText('uuid')}))
		.filter((one): one is EligibleInstance => one.gpu !== undefined && one.uuid !== undefined);
}

/** Reads the Unix groups that have limits. An unreadable list counts as empty, which does not affect the entry. */
function readGroups(fields: Fields): QueueEntry['groups'] {
	const groups = fields.anyList('limit_groups').filter((item) => typeof item === 'string');
	return groups.length === 0 ? undefined : groups;
}

function readEntry(fields: Fields, id: string): QueueEntry {
	// The id in the queue is authoritative, and this field is only a copy. Reading it keeps it out of the unknown fields.
	fields.text('id');
	const lastHeartbeat = fields.time('last_heartbeat');
	const enqueueTime = fields.time('enqueue_time') ?? lastHeartbeat;
	const requestedIds = fields.integers('requested_ids');
	// The Go program writes zero if there is no duration.
	const expiryNanoseconds = fields.quantity('expiry_duration') ?? 0;
	const entry: QueueEntry = {
		id,
		user: fields.required('user', fields.text('user')),
		actualUser: fields.text('actual_user'),
		requestedCount: fields.whole('requested_count') ?? requestedIds.length,
		requestedIds,
		need: readNeed(fields.object('need')),
		groups: readGroups(fields),
		eligible: fields.integerLists('eligible_gpus'),
		eligibleInstances: readEligibleInstances(fields),
		allocatedGpus: fields.integers('allocated_gpus'),
		reservationType: fields.choice('reservation_type', leaseTypes),
		expirySeconds: expiryNanoseconds === 0 ? undefined : expiryNanoseconds / nanosecondsPerSecond,
		timeLimitSeconds: fields.quantity('time_limit'),
		note: fields.text('note'),
		via: fields.anyText('via'),
		enqueueTime: fields.required('enqueue_time', enqueueTime),
		lastHeartbeat: fields.required('last_heartbeat', lastHeartbeat ?? enqueueTime),
		waitTimeout: fields.end('wait_timeout'),
		force: fields.flag('force'),
		unavailable: readUnavailable(fields),
		machine: fields.text('machine'),
		bootId: readBoot(fields),
		holder: readProcess(fields, 'pid'),
		silence: readSilence(fields),
	};
	const unknownFields = fields.rest();
	return unknownFields === undefined ? entry : {...entry, unknownFields};
}

/** Decodes a queue entry. Never throws. `raw` is undefined if the id has no entry. */
export function decodeQueueEntry(id: string, raw: string | undefined): QueueRecord {
	if (raw === undefined) {
		return {kind: 'orphan', id};
	}

	const result = readRecord(raw, (fields) => readEntry(fields, id));
	return 'problem' in result
		? {kind: 'garbage', id, raw, problem: result.problem}
		: {kind: 'entry', id, raw, entry: result.value};
}

const outageRecords = (outages: readonly NotedOutage[] = []) =>
	outages.length === 0
		? undefined
		: outages.map(({gpu, mig, kind, detail, since}) => ({
				gpu,
				uuid: mig?.uuid,
				instance: mig?.number,
				kind,
				detail: optionalText(detail),
				since: formatRfc3339(since),
			}));

export const encodeQueueEntry = (entry: QueueEntry): string =>
	writeRecord(
		{
			id: requiredText(entry.id, 'The id of a queue entry'),
			user: requiredText(entry.user, 'The label of a queue entry'),
			actual_user: optionalText(entry.actualUser),
			requested_count: entry.requestedCount,
			requested_ids: entry.requestedIds,
			need: entry.need && needRecord(entry.need),
			limit_groups: entry.groups,
			eligible_gpus: entry.eligible,
			eligible_instances: entry.eligibleInstances,
			allocated_gpus: entry.allocatedGpus,
			reservation_type: entry.reservationType,
			expiry_duration: nanoseconds(entry.expirySeconds),
			note: optionalText(entry.note),
			via: optionalText(entry.via),
			enqueue_time: formatRfc3339(entry.enqueueTime),
			last_heartbeat: formatRfc3339(entry.lastHeartbeat),
			wait_timeout: entry.waitTimeout === undefined ? undefined : formatRfc3339(entry.waitTimeout),
			force: entry.force,
			unavailable_gpus: outageRecords(entry.unavailable?.filter(({mig}) => mig === undefined)),
			unavailable_instances: outageRecords(entry.unavailable?.filter(({mig}) => mig !== undefined)),
			machine: optionalText(entry.machine),
			boot_id: optionalText(entry.bootId),
			...(entry.holder && holderFields(entry.holder)),
			silence: silenceRecord(entry.silence),
			time_limit: entry.timeLimitSeconds,
		},
		entry.unknownFields,
	);
