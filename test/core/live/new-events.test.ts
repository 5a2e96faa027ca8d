import {expect, test} from 'vitest';
import {newEvents} from '../../../source/core/live/audit-feed.js';
import type {AuditEntry} from '../../../source/core/model/types.js';

const entries = (...ids: readonly string[]): readonly AuditEntry[] =>
	ids.map((id) => ({id, time: 1, kind: 'idle', gpus: []}));

test.each([
	['the next event', ['1', '2'], ['1', '2', '3'], ['3']],
	['no event, if there is none', ['1', '2'], ['1', '2'], []],
	['no event, if the store came back without the newest', ['1', '2', '3'], ['1', '2'], []],
	['the events after the newest that both lists have', ['1', '2', '3'], ['1', '2', '4'], ['4']],
	['all events of another log', ['1', '2'], ['7', '8'], ['7', '8']],
])('newEvents returns %s', (_, before, now, expected) => {
	expect(newEvents(entries(...now), entries(...before)).map(({id}) => id)).toEqual(expected);
});
