import {alertKinds, type Alert, type MemoryBaseline, type Overuse, type ReturnNote} from '../../core/model/alerts.js';
import {healthKinds} from '../../core/model/observation.js';
import type {Snapshot} from '../../core/model/types.js';
import type {Write} from '../../core/model/plan.js';
import {readIfSound, type Fields} from './json/fields.js';
import {formatRfc3339} from './json/time.js';
import {optionalText, writeRecord} from './json/write.js';

type Noted = Pick<Snapshot, 'alerts' | 'dataLoss' | 'baselines' | 'overuse'> & {
	readonly returned: readonly ReturnNote[];
};

/** Decodes the record of alerts. Omits unreadable parts, so their alerts are raised again and their scans are counted from zero. */
export function decodeAlerts(raw: string | undefined): Noted {
	const part = <Value>(read: (fields: Fields) => Value): Value | undefined =>
		raw === undefined ? undefined : readIfSound(raw, read);
	const list = <Value>(name: string, read: (item: Fields) => Value): readonly Value[] =>
		part((fields) => fields.records(name, read)) ?? [];

	return {
		alerts: list('notices', (item): Alert => ({
			kind: item.choice('kind', alertKinds),
			gpu: item.required('gpu', item.whole('gpu')),
			account: item.text('account'),
			owner: item.text('owner'),
			problem: item.text('problem') === undefined ? undefined : item.choice('problem', healthKinds),
			since: item.required('since', item.time('since')),
			isTold: item.whole('told') === 1 ? true : undefined,
		})),
		dataLoss: part((fields) => {
			const restoredAt = fields.time('restored_at');
			const readAt = fields.time('restored_read_at');
			return restoredAt === undefined || readAt === undefined ? undefined : {restoredAt, readAt};
		}),
		baselines: new Map(
			list('baselines', (item): readonly [number, MemoryBaseline] => [
				item.required('gpu', item.whole('gpu')),
				{
					memoryMiB: item.required('memory_mib', item.quantity('memory_mib')),
					uuid: item.text('uuid'),
					bootId: item.text('boot_id'),
				},
			]),
		),
		overuse: list('overuse', (item): Overuse => ({
			gpu: item.required('gpu', item.whole('gpu')),
			leaseId: item.required('lease_id', item.text('lease_id')),
			since: item.required('since', item.time('since')),
			countedAt: item.required('counted_at', item.time('counted_at')),
			scans: item.required('scans', item.whole('scans')),
			usedMiB: item.required('used_mib', item.quantity('used_mib')),
			isRecorded: item.whole('told') === 1,
			isReminded: item.whole('reminded') === 1,
		})),
		returned: list('returned', (item): ReturnNote => ({
			account: item.required('account', item.text('account')),
			label: item.text('label'),
			gpus: item.integers('gpus'),
			leaseId: item.required('lease_id', item.text('lease_id')),
			reason: item.choice('reason', ['reclaimed', 'beyond-limit']),
			endedAt: item.required('ended_at', item.time('ended_at')),
			note: item.text('note'),
		})),
	};
}

const returnRecord = ({account, label, gpus, leaseId, reason, endedAt, note}: ReturnNote) => ({
	account,
	label: optionalText(label),
	gpus,
	lease_id: leaseId,
	reason,
	ended_at: formatRfc3339(endedAt),
	note: optionalText(note),
});

/** Encodes the record of alerts. Returns undefined if there is nothing to store. */
export const encodeAlerts = ({
	alerts,
	dataLoss,
	baselines = new Map(),
	overuse = [],
	returned = [],
}: Omit<Extract<Write, {kind: 'alerts'}>, 'kind'>): string | undefined =>
	alerts.length === 0 && dataLoss === undefined && baselines.size === 0 && overuse.length + returned.length === 0
		? undefined
		: writeRecord({
				notices: alerts.map(({kind, gpu, account, owner, problem, since, isTold}) => ({
					kind,
					gpu,
					account: optionalText(account),
					owner: optionalText(owner),
					problem,
					since: formatRfc3339(since),
					told: isTold === true ? 1 : undefined,
				})),
				restored_at: dataLoss && formatRfc3339(dataLoss.restoredAt),
				restored_read_at: dataLoss && formatRfc3339(dataLoss.readAt),
				baselines:
					baselines.size === 0
						? undefined
						: Array.from(baselines, ([gpu, {memoryMiB, uuid, bootId}]) => ({
								gpu,
								memory_mib: memoryMiB,
								uuid: optionalText(uuid),
								boot_id: optionalText(bootId),
							})),
				overuse:
					overuse.length === 0
						? undefined
						: overuse.map(({gpu, leaseId, since, countedAt, scans, usedMiB, isRecorded, isReminded}) => ({
								gpu,
								lease_id: leaseId,
								since: formatRfc3339(since),
								counted_at: formatRfc3339(countedAt),
								scans,
								used_mib: usedMiB,
								told: isRecorded ? 1 : undefined,
								reminded: isReminded ? 1 : undefined,
							})),
				returned: returned.length === 0 ? undefined : returned.map((note) => returnRecord(note)),
			});
