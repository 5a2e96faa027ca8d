import type {PoolEvent} from '../../core/types.js';
import {readRecord} from './fields.js';
import {optionalText, writeRecord} from './write.js';

const kinds: ReadonlyArray<PoolEvent['kind']> = [
	'granted',
	'released',
	'expired',
	'extended',
	'heartbeat',
	'queue',
	'pool',
];

/** Reads an event; undefined for one that makes no sense, which still says that something changed. */
export function decodeEvent(raw: string): PoolEvent | undefined {
	const result = readRecord(raw, (fields): PoolEvent => {
		const user = fields.text('user');
		const event = {kind: fields.choice('kind', kinds), gpus: fields.integers('gpus')};
		return user === undefined ? event : {...event, user};
	});
	return 'problem' in result ? undefined : result.value;
}

export const encodeEvent = ({kind, gpus, user}: PoolEvent): string =>
	writeRecord([
		['kind', kind],
		['gpus', gpus],
		['user', optionalText(user)],
	]);
