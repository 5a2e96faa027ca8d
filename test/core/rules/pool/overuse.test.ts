import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {Overuse} from '../../../../source/core/model/alerts.js';
import type {AuditRecord, GpuRecord, Lease, Snapshot} from '../../../../source/core/model/types.js';
import {decidingScans, overuseChanges} from '../../../../source/core/rules/pool/overuse.js';
import {statusRows} from '../../../../source/core/rules/pool/status.js';
import {idleReading, observationOf, snapshotWith} from '../../../_helpers/world.js';

const shareOf = (leaseId: string): Lease => ({
	user: 'team',
	actualUser: leaseId,
	type: 'run',
	startTime: 0,
	memoryMiB: 1000,
	leaseId,
});

const gpuOf = (ids: readonly string[]): GpuRecord =>
	ids.length === 0
		? {kind: 'free', index: 0, raw: undefined}
		: {kind: 'shared', index: 0, raw: '', shares: ids.map((id) => shareOf(id)), capacityMiB: 80_000};

/** A scan of ann's share. `gone` means that the share has ended. */
type Scan = {readonly gapSeconds: number; readonly usedMiB: number | 'unknown' | 'gone'};

/** Replays the scans on several hosts, each of which reads what the previous one wrote. */
function go(scans: readonly Scan[]) {
	let overuse: readonly Overuse[] = [];
	let now = 1000;
	let writes = 0;
	const recorded: AuditRecord[] = [];
	const shown: boolean[] = [];
	for (const {gapSeconds, usedMiB} of scans) {
		now += gapSeconds;
		const snapshot: Snapshot = snapshotWith({
			now,
			gpus: [gpuOf(usedMiB === 'gone' ? ['bob'] : ['bob', 'ann'])],
			overuse,
		});
		const memoryUsedMiB = typeof usedMiB === 'number' ? usedMiB : undefined;
		const processes = [
			{pid: 1, user: 'bob', memoryUsedMiB: 900},
			...(usedMiB === 'gone' ? [] : [{pid: 2, user: 'ann', memoryUsedMiB}]),
		];
		const observation = observationOf([{...idleReading(0), memoryUsedMiB: 20_000, processes}]);
		const changes = overuseChanges(snapshot, statusRows(snapshot, observation, 1024), {now, host: 'box'});
		if (changes !== undefined) {
			writes++;
			({overuse} = changes);
			recorded.push(...changes.audit);
		}

		const [row] = statusRows({...snapshot, overuse}, observation, 1024);
		shown.push(row!.shares?.some(({overSeconds}) => overSeconds !== undefined) ?? false);
	}

	return {overuse, recorded, shown, writes};
}

const scan = fc.record({
	gapSeconds: fc.constantFrom(0.1, 1, 3, 60, 299, 301, 86_400),
	usedMiB: fc.constantFrom<Array<Scan['usedMiB']>>(900, 1000, 1050, 1051, 9000, 'unknown', 'gone'),
});

/** A simple model of the rule. Returns the records of a list of scans, as `+` and `-`. */
function model(scans: readonly Scan[]): string {
	let recorded = '';
	let isRecorded = false;
	let row = 0;
	let age = Infinity;
	for (const {gapSeconds, usedMiB} of scans) {
		age += gapSeconds;
		const isPending = row > 0 || isRecorded;
		if (usedMiB === 'gone') {
			isRecorded = false;
			row = 0;
			age = Infinity;
			continue;
		}

		if (usedMiB === 'unknown' || (isPending && age < 2)) {
			continue;
		}

		const isOver = usedMiB > 1050;
		if (isRecorded) {
			if (isOver) {
				age = row === 0 ? age : 0;
				row = 0;
				continue;
			}

			row++;
			age = 0;
		} else {
			row = isOver ? (age > 300 ? 1 : row + 1) : 0;
			age = isOver ? 0 : Infinity;
		}

		if (row !== decidingScans) {
			continue;
		}

		recorded += isRecorded ? '-' : '+';
		isRecorded = !isRecorded;
		row = 0;
		age = isRecorded ? 0 : Infinity;
	}

	return recorded;
}

test('a share starts or stops counting as over its memory only after three consecutive scans', () => {
	fc.assert(
		fc.property(fc.array(scan, {maxLength: 30}), (scans) => {
			const {recorded, shown, overuse} = go(scans);
			expect(recorded.map(({reason}) => (reason === undefined ? '+' : '-')).join('')).toBe(model(scans));
			expect(
				recorded.every(({account, leaseId, gpus}) => account === 'ann' && leaseId === 'ann' && gpus[0] === 0),
			).toBe(true);
			expect(shown.at(-1) ?? false).toBe(
				overuse.some(({isRecorded}) => isRecorded) && scans.at(-1)?.usedMiB !== 'gone',
			);
		}),
		{numRuns: 300},
	);
});

test('a share that keeps exceeding its memory is written to the store only three times', () => {
	const scans = Array.from({length: 20}, (): Scan => ({gapSeconds: 5, usedMiB: 9000}));
	const {recorded, writes, overuse} = go(scans);
	expect(writes).toBe(3);
	expect(recorded).toEqual([
		{
			time: 1015,
			kind: 'overuse',
			account: 'ann',
			label: 'team',
			host: 'box',
			gpus: [0],
			leaseId: 'ann',
			memoryMiB: 1000,
			usedMiB: 9000,
		},
	]);
	expect(overuse).toEqual([
		{
			gpu: 0,
			leaseId: 'ann',
			since: 1005,
			countedAt: 1015,
			scans: 0,
			usedMiB: 9000,
			isRecorded: true,
			isReminded: false,
		},
	]);
});
