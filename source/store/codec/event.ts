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
	'drain',
	'notice',
];

/** Reads an event; undefined for one that makes no sense, which still says that something changed. */
export function decodeEvent(raw: string): PoolEvent | undefined {
	const result = readRecord(raw, (fields): PoolEvent => {
		const user = fields.text('user');
		const left = fields.texts('left');
		return {
			kind: fields.choice('kind', kinds),
			gpus: fields.integers('gpus'),
			...(user !== undefined && {user}),
			...(left.length > 0 && {left}),
		};
	});
	return 'problem' in result ? undefined : result.value;
}

export const encodeEvent = ({kind, gpus, user, left = []}: PoolEvent): string =>
	writeRecord([
		['kind', kind],
		['gpus', gpus],
		['user', optionalText(user)],
		['left', left.length === 0 ? undefined : left],
	]);
