import type {Drain} from '../../core/model/types.js';
import {readRecord} from './json/fields.js';
import {textOf} from './json/raw.js';
import {formatRfc3339} from './json/time.js';
import {optionalText, writeRecord} from './json/write.js';

type Drains = ReadonlyMap<number, Drain>;

/** Reads which GPUs are out of service. Never throws: what is wrong with the record comes back in words. */
export function decodeDrains(raw: string | undefined): {readonly drains: Drains} | {readonly problem: string} {
	if (raw === undefined) {
		return {drains: new Map()};
	}

	const result = readRecord(textOf(raw), (fields) =>
		fields.records('drains', (item): readonly [number, Drain] => [
			item.required('gpu', item.whole('gpu')),
			{
				reason: item.text('reason'),
				by: item.text('by'),
				since: item.required('since', item.time('since')),
			},
		]),
	);
	return 'problem' in result ? result : {drains: new Map(result.value)};
}

/** The stored form; undefined: nothing is stored, for none is out of service. */
export const encodeDrains = (drains: Drains): string | undefined =>
	drains.size === 0
		? undefined
		: writeRecord({
				drains: [...drains].map(([gpu, {reason, by, since}]) => ({
					gpu,
					reason: optionalText(reason),
					by: optionalText(by),
					since: formatRfc3339(since),
				})),
			});
