import type {HealthProblem, Notice} from '../../core/types.js';
import {readRecord} from './fields.js';
import {textOf} from './raw.js';
import {formatRfc3339} from './time.js';
import {optionalText, writeRecord} from './write.js';

const kinds: ReadonlyArray<Notice['kind']> = ['unreserved', 'squatter', 'health'];
const problems: ReadonlyArray<HealthProblem['kind']> = ['ecc', 'xid', 'needs-reset', 'fell-off-the-bus', 'temperature'];

/** Reads which notices stand. None for a record that cannot be read: then they are told once more. */
export function decodeNotices(raw: string | undefined): readonly Notice[] {
	const result = readRecord(textOf(raw ?? '{}'), (fields) =>
		fields.records('notices', (item): Notice => ({
			kind: item.choice('kind', kinds),
			gpu: item.required('gpu', item.whole('gpu')),
			account: item.text('account'),
			owner: item.text('owner'),
			problem: item.text('problem') === undefined ? undefined : item.choice('problem', problems),
			since: item.required('since', item.time('since')),
		})),
	);
	return 'problem' in result ? [] : result.value;
}

/** The stored form; undefined: nothing is stored, for none stands. */
export const encodeNotices = (notices: readonly Notice[]): string | undefined =>
	notices.length === 0
		? undefined
		: writeRecord([
				[
					'notices',
					notices.map(({kind, gpu, account, owner, problem, since}) => ({
						kind,
						gpu,
						account: optionalText(account),
						owner: optionalText(owner),
						problem,
						since: formatRfc3339(since),
					})),
				],
			]);
