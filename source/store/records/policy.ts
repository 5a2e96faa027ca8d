import type {PolicySetting} from '../../core/model/types.js';
import {readRecord} from './json/fields.js';
import {textOf} from './json/raw.js';
import {formatRfc3339} from './json/time.js';
import {optionalText, writeRecord} from './json/write.js';

type Settings = ReadonlyMap<string, PolicySetting>;

/** Reads what an administrator has set for everybody. Never throws: what is wrong with the record comes back in words. */
export function decodePolicy(raw: string | undefined): {readonly policy: Settings} | {readonly problem: string} {
	if (raw === undefined) {
		return {policy: new Map()};
	}

	const result = readRecord(textOf(raw), (fields) =>
		fields.records('policy', (item): readonly [string, PolicySetting] => [
			item.required('key', item.text('key')),
			{
				value: item.required('value', item.text('value')),
				by: item.text('by'),
				since: item.required('since', item.time('since')),
			},
		]),
	);
	return 'problem' in result ? result : {policy: new Map(result.value)};
}

/** The stored form; undefined: nothing is stored, for no key is set. */
export const encodePolicy = (policy: Settings): string | undefined =>
	policy.size === 0
		? undefined
		: writeRecord({
				policy: [...policy].map(([key, {value, by, since}]) => ({
					key,
					value,
					by: optionalText(by),
					since: formatRfc3339(since),
				})),
			});
