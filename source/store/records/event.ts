import {eventKinds, type PoolEvent} from '../../core/model/types.js';
import {readIfSound} from './json/fields.js';
import {optionalText, writeRecord} from './json/write.js';

/** Decodes an event. Returns undefined for an invalid event, which still shows that something has changed. */
export function decodeEvent(raw: string): PoolEvent | undefined {
	return readIfSound(raw, (fields): PoolEvent => {
		const user = fields.text('user');
		const left = fields.texts('left');
		const jobs = fields.integers('jobs');
		const shared = fields.flag('shared');
		return {
			kind: fields.choice('kind', eventKinds),
			gpus: fields.integers('gpus'),
			...(user !== undefined && {user}),
			...(left.length > 0 && {left}),
			...(jobs.length > 0 && {jobs}),
			...(shared && {shared}),
		};
	});
}

export const encodeEvent = ({kind, gpus, user, left = [], jobs = [], shared}: PoolEvent): string =>
	writeRecord({
		kind,
		gpus,
		user: optionalText(user),
		left: left.length === 0 ? undefined : left,
		jobs: jobs.length === 0 ? undefined : jobs,
		shared,
	});
