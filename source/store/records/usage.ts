import {endReasons, leaseTypes, type UsageRecord} from '../../core/model/types.js';
import {readIfSound, type Fields} from './json/fields.js';
import {instanceRecord} from './instances.js';
import {formatRfc3339} from './json/time.js';
import {optionalText, requiredText, writeRecord} from './json/write.js';

/** Reads the MIG instance of a usage record. Returns undefined for an invalid value, which does not make the record invalid. */
function readUsedInstance(fields: Fields | undefined): UsageRecord['mig'] {
	const uuid = fields?.anyText('uuid');
	return uuid === undefined
		? undefined
		: {uuid, number: fields?.anyNumber('number'), profile: fields?.anyText('profile')};
}

function readUsage(fields: Fields): UsageRecord {
	const endTime = fields.required('end_time', fields.time('end_time'));
	const duration = fields.quantity('duration_seconds');
	const startTime = fields.time('start_time') ?? (duration === undefined ? undefined : Math.max(0, endTime - duration));
	const endReason = fields.text('end_reason');
	return {
		user: fields.required('user', fields.text('user')),
		actualUser: fields.text('actual_user'),
		gpuId: fields.required('gpu_id', fields.whole('gpu_id')),
		startTime: fields.required('start_time', startTime),
		endTime,
		durationSeconds: duration ?? Math.max(0, endTime - fields.required('start_time', startTime)),
		reservationType: fields.choice('reservation_type', leaseTypes),
		leaseId: fields.text('lease_id'),
		note: fields.text('note'),
		model: fields.text('model'),
		memoryMiB: fields.anyNumber('memory_mib'),
		mig: readUsedInstance(fields.object('mig')),
		// A reason that only a later version knows is dropped, and does not make the record invalid.
		endReason: endReasons.find((known) => known === endReason),
	};
}

export function decodeUsage(raw: string): UsageRecord | undefined {
	return readIfSound(raw, readUsage);
}

export const encodeUsage = (usage: UsageRecord): string =>
	writeRecord({
		user: requiredText(usage.user, 'The label of a usage record'),
		actual_user: optionalText(usage.actualUser),
		gpu_id: usage.gpuId,
		start_time: formatRfc3339(usage.startTime),
		end_time: formatRfc3339(usage.endTime),
		duration_seconds: usage.durationSeconds,
		reservation_type: usage.reservationType,
		lease_id: optionalText(usage.leaseId),
		note: optionalText(usage.note),
		model: optionalText(usage.model),
		memory_mib: usage.memoryMiB,
		mig: instanceRecord(usage.mig),
		end_reason: usage.endReason,
	});

/**
Returns one or two texts. Each record of this user contains one of them: the label as this program encodes it, or as Go does, which escapes HTML. A
note cannot contain these texts, because their quotes would be escaped.
*/
export function usageNeedles(user: string): readonly string[] {
	const ours = `"user":${JSON.stringify(user.toWellFormed())}`;
	const peers = ours.replaceAll(
		/[&<>\u{2028}\u{2029}]/gv,
		(character) => String.raw`\u` + character.codePointAt(0)!.toString(16).padStart(4, '0'),
	);
	return peers === ours ? [ours] : [ours, peers];
}
