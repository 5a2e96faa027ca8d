import type {Drain, PolicySetting} from '../../core/model/types.js';
import {readRecord, type Fields} from './json/fields.js';
import {formatRfc3339} from './json/time.js';
import {optionalText, writeRecord} from './json/write.js';

type Problem = {readonly problem: string};

/** Decodes a record with settings by key. Never throws: if the record is invalid, returns the problem as text. */
function readMap<Key, Value>(
	raw: string | undefined,
	name: string,
	read: (item: Fields) => readonly [Key, Value],
): Problem | {readonly value: ReadonlyMap<Key, Value>} {
	return raw === undefined ? {value: new Map()} : readRecord(raw, (fields) => new Map(fields.records(name, read)));
}

const readOrigin = (item: Fields) => ({by: item.text('by'), since: item.required('since', item.time('since'))});

const originRecord = ({by, since = 0}: Pick<Drain, 'by' | 'since'>) => ({
	by: optionalText(by),
	since: formatRfc3339(since),
});

export function decodeDrains(raw: string | undefined): Problem | {readonly drains: ReadonlyMap<number, Drain>} {
	const read = readMap(raw, 'drains', (item): readonly [number, Drain] => [
		item.required('gpu', item.whole('gpu')),
		{reason: item.text('reason'), ...readOrigin(item)},
	]);
	return 'problem' in read ? read : {drains: read.value};
}

export const encodeDrains = (drains: ReadonlyMap<number, Drain>): string | undefined =>
	drains.size === 0
		? undefined
		: writeRecord({
				drains: Array.from(drains, ([gpu, drain]) => ({
					gpu,
					reason: optionalText(drain.reason),
					...originRecord(drain),
				})),
			});

export function decodePolicy(raw: string | undefined): Problem | {readonly policy: ReadonlyMap<string, PolicySetting>} {
	const read = readMap(raw, 'policy', (item): readonly [string, PolicySetting] => [
		item.required('key', item.text('key')),
		{value: item.required('value', item.text('value')), ...readOrigin(item)},
	]);
	return 'problem' in read ? read : {policy: read.value};
}

export const encodePolicy = (policy: ReadonlyMap<string, PolicySetting>): string | undefined =>
	policy.size === 0
		? undefined
		: writeRecord({
				policy: Array.from(policy, ([key, setting]) => ({key, value: setting.value, ...originRecord(setting)})),
			});
