import type {AuditBefore, AuditKind, AuditRecord} from '../../core/types.js';
import {readRecord, type Fields} from './fields.js';
import {textOf} from './raw.js';
import {checkTime} from './time.js';
import {optionalText, writeRecord} from './write.js';

/** A record, so that a kind that is missing here does not compile. */
const kinds: Readonly<Record<AuditKind, true>> = {
	granted: true,
	held: true,
	released: true,
	extended: true,
	expired: true,
	ended: true,
	refused: true,
	joined: true,
	left: true,
	drained: true,
	undrained: true,
	pool: true,
	unreserved: true,
	squatter: true,
	health: true,
	notice: true,
};

/** The trail keeps ten thousand records, and a note may be a megabyte long. */
const longestText = 200;

/** Undefined when there was nothing before. */
function decodeBefore(fields: Fields): AuditBefore | undefined {
	const before = {
		count: fields.whole('count_before'),
		provider: fields.text('provider_before'),
		location: fields.text('location_before'),
		reason: fields.text('reason_before'),
	};
	return Object.values(before).every((value) => value === undefined) ? undefined : before;
}

/** Reads a record of the trail; undefined for one that does not parse. */
export function decodeAudit(raw: string): AuditRecord | undefined {
	const result = readRecord(textOf(raw), (fields): AuditRecord => {
		const forced = fields.whole('forced') === 1;
		const record = {
			time: fields.required('time', fields.time('time')),
			kind: fields.choice('kind', Object.keys(kinds) as AuditKind[]),
			account: fields.text('account'),
			label: fields.text('label'),
			owner: fields.text('owner'),
			host: fields.text('host'),
			gpus: fields.integers('gpus'),
			count: fields.whole('count'),
			provider: fields.text('provider'),
			before: decodeBefore(fields),
			leaseId: fields.text('lease_id'),
			entryId: fields.text('entry_id'),
			until: fields.time('until'),
			reason: fields.text('reason'),
			note: fields.text('note'),
		};
		return forced ? {...record, forced} : record;
	});
	return 'problem' in result ? undefined : result.value;
}

const shortText = (text: string | undefined): string | undefined => optionalText(text?.slice(0, longestText) ?? '');

/**
The stored form of a record of the trail. Long texts are cut.

@throws RangeError for an impossible time: a bug of the caller.
*/
export const encodeAudit = (record: AuditRecord): string =>
	writeRecord([
		['time', checkTime(record.time)],
		['kind', record.kind],
		['account', shortText(record.account)],
		['label', shortText(record.label)],
		['owner', shortText(record.owner)],
		['host', shortText(record.host)],
		['gpus', record.gpus],
		['count', record.count],
		['provider', shortText(record.provider)],
		['count_before', record.before?.count],
		['provider_before', shortText(record.before?.provider)],
		['location_before', shortText(record.before?.location)],
		['reason_before', shortText(record.before?.reason)],
		['lease_id', shortText(record.leaseId)],
		['entry_id', shortText(record.entryId)],
		['forced', record.forced === true ? 1 : undefined],
		['until', record.until === undefined ? undefined : checkTime(record.until)],
		['reason', shortText(record.reason)],
		['note', shortText(record.note)],
	]);
