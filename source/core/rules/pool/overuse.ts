/** Detects shares that use more memory than they reserved. An overuse begins and ends after three consecutive scans, because memory use has brief peaks. */
import type {Overuse} from '../../model/alerts.js';
import type {AuditRecord, Snapshot} from '../../model/types.js';
import type {AuditContext} from '../leases/audit-entries.js';
import {isOverused} from '../usage/share-usage.js';
import type {ShareRow, StatusRow} from './status.js';

export const decidingScans = 3;

/** Scans that follow each other faster than this are counted as one, because several interfaces may scan at the same time. */
const shortestGapSeconds = 2;

/** Scans that are further apart than this are not consecutive. */
const longestGapSeconds = 300;

type Seen = {readonly gpu: number; readonly share: ShareRow; readonly leaseId: string};

type OveruseChanges = {
	readonly overuse: readonly Overuse[];
	readonly audit: readonly AuditRecord[];
};

const isSame = (one: Pick<Overuse, 'gpu' | 'leaseId'>, other: Pick<Overuse, 'gpu' | 'leaseId'>): boolean =>
	one.gpu === other.gpu && one.leaseId === other.leaseId;

const recordOf = (
	{gpu, share: {lease, owner, label, memoryUsedMiB}}: Seen,
	{now, host}: AuditContext,
): AuditRecord => ({
	time: now,
	kind: 'overuse',
	account: owner,
	label,
	host,
	gpus: [gpu],
	leaseId: lease.leaseId,
	memoryMiB: lease.memoryMiB,
	usedMiB: memoryUsedMiB,
});

/** Updates the overuse of one share after one scan. `audit` is set if the overuse has begun or ended, and must be recorded. */
function counted(
	known: Overuse | undefined,
	seen: Seen,
	context: AuditContext,
): {readonly next: Overuse | undefined; readonly audit?: AuditRecord} {
	const {now} = context;
	const {lease, memoryUsedMiB} = seen.share;
	const gap = known === undefined ? Infinity : Math.abs(now - known.countedAt);
	if (memoryUsedMiB === undefined || (known !== undefined && gap < shortestGapSeconds)) {
		return {next: known};
	}

	const isOver = isOverused({memoryMiB: lease.memoryMiB, memoryUsedMiB});
	if (known?.isRecorded === true) {
		if (isOver) {
			return {next: known.scans === 0 ? known : {...known, scans: 0, countedAt: now}};
		}

		return known.scans + 1 < decidingScans
			? {next: {...known, scans: known.scans + 1, countedAt: now}}
			: {next: undefined, audit: {...recordOf(seen, context), reason: 'over'}};
	}

	if (!isOver) {
		return {next: undefined};
	}

	const isInRow = known !== undefined && gap <= longestGapSeconds;
	const scans = isInRow ? known.scans + 1 : 1;
	const isRecorded = scans >= decidingScans;
	return {
		next: {
			gpu: seen.gpu,
			leaseId: seen.leaseId,
			since: isInRow ? known.since : now,
			countedAt: now,
			scans: isRecorded ? 0 : scans,
			usedMiB: memoryUsedMiB,
			isRecorded,
			isReminded: false,
		},
		audit: isRecorded ? recordOf(seen, context) : undefined,
	};
}

/** Updates the counts of overused shares after a scan. `rows` must come from a successful scan and this snapshot. Returns undefined if nothing changed. */
export function overuseChanges(
	{overuse}: Pick<Snapshot, 'overuse'>,
	rows: readonly StatusRow[],
	context: AuditContext,
): OveruseChanges | undefined {
	const shares = rows.flatMap(({index, shares: ofGpu = []}) =>
		ofGpu.flatMap((share): readonly Seen[] => {
			const {leaseId} = share.lease;
			return leaseId === undefined || share.lease.mig !== undefined ? [] : [{gpu: index, share, leaseId}];
		}),
	);
	const results = shares.map((seen) =>
		counted(
			overuse.find((known) => isSame(known, seen)),
			seen,
			context,
		),
	);
	const next = results.map((result) => result.next).filter((entry) => entry !== undefined);
	const isUnchanged = next.length === overuse.length && next.every((entry) => overuse.includes(entry));
	return isUnchanged
		? undefined
		: {overuse: next, audit: results.map(({audit}) => audit).filter((entry) => entry !== undefined)};
}
