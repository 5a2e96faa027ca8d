import {auditKinds, type AuditBefore, type AuditRecord} from '../../core/model/audit.js';
import {mostGpus} from '../../core/model/observation.js';
import {readIfSound, type Fields} from './json/fields.js';
import {instancesRecord, readInstances} from './instances.js';
import {needRecord, readNeed} from './need.js';
import {checkTime} from './json/time.js';
import {optionalText, writeRecord} from './json/write.js';

/** Maximum length of a text in a record. The log has ten thousand records, and a note can be a megabyte long. */
const longestText = 200;

const shortText = (text: string | undefined): string | undefined => optionalText(text?.slice(0, longestText) ?? '');

/** Reads a text field. Longer texts by other programs are cut to the length that this program writes. */
const textFrom = (fields: Fields, name: string): string | undefined => shortText(fields.text(name))?.toWellFormed();

function decodeBefore(fields: Fields): AuditBefore | undefined {
	const before = {
		count: fields.whole('count_before'),
		provider: textFrom(fields, 'provider_before'),
		location: textFrom(fields, 'location_before'),
		reason: textFrom(fields, 'reason_before'),
		value: textFrom(fields, 'value_before'),
	};
	return Object.values(before).every((value) => value === undefined) ? undefined : before;
}

export function decodeAudit(raw: string): AuditRecord | undefined {
	return readIfSound(raw, (fields): AuditRecord => {
		const forced = fields.whole('forced') === 1;
		const text = (name: string) => textFrom(fields, name);
		const record = {
			time: fields.required('time', fields.time('time')),
			kind: fields.choice('kind', auditKinds),
			account: text('account'),
			label: text('label'),
			owner: text('owner'),
			host: text('host'),
			gpus: fields.integers('gpus').slice(0, mostGpus),
			instances: readInstances(fields),
			count: fields.whole('count'),
			need: readNeed(fields.object('need')),
			provider: text('provider'),
			memoryMiB: fields.quantity('memory_mib'),
			usedMiB: fields.quantity('used_mib'),
			key: text('key'),
			value: text('value'),
			before: decodeBefore(fields),
			leaseId: text('lease_id'),
			entryId: text('entry_id'),
			jobId: text('job_id'),
			until: fields.time('until'),
			reason: text('reason'),
			note: text('note'),
			via: text('via'),
		};
		return {
			...record,
			...(forced && {forced}),
		};
	});
}

export const encodeAudit = (record: AuditRecord): string =>
	writeRecord({
		time: checkTime(record.time),
		kind: record.kind,
		account: shortText(record.account),
		label: shortText(record.label),
		owner: shortText(record.owner),
		host: shortText(record.host),
		gpus: record.gpus,
		instances: instancesRecord(record.instances),
		count: record.count,
		need: record.need && needRecord(record.need),
		provider: shortText(record.provider),
		memory_mib: record.memoryMiB,
		used_mib: record.usedMiB,
		key: shortText(record.key),
		value: shortText(record.value),
		count_before: record.before?.count,
		provider_before: shortText(record.before?.provider),
		location_before: shortText(record.before?.location),
		reason_before: shortText(record.before?.reason),
		value_before: shortText(record.before?.value),
		lease_id: shortText(record.leaseId),
		entry_id: shortText(record.entryId),
		job_id: shortText(record.jobId),
		forced: record.forced === true ? 1 : undefined,
		until: record.until === undefined ? undefined : checkTime(record.until),
		reason: shortText(record.reason),
		note: shortText(record.note),
		via: shortText(record.via),
	});
