/** Records of Slurm's database in `report` and `events`. The samples follow the manual of sacct. */
import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {UsageRecord} from '../../../source/core/model/types.js';
import {makeReport} from '../../../source/core/operations/history/report.js';
import {byGpu, byUser} from '../../../source/core/rules/pool/report.js';
import {accountedUsage, gpusIn, readAccounting} from '../../../source/engine/slurm/accounting.js';
import type {Cluster, ClusterConfig} from '../../../source/engine/slurm/cluster.js';
import {recentEvents} from '../../../source/engine/slurm/events.js';

const now = Math.floor(Date.now() / 1000);
const hour = 3600;

const answer = [
	`11|ann|COMPLETED|${now - 5 * hour}|${now - 4 * hour}|${now - 2 * hour}|billing=2,cpu=2,gres/gpu:a100=2,gres/gpu=2,mem=4G,node=1|train|x`,
	`12|bob|CANCELLED by 1000|${now - 5 * hour}|${now - 3 * hour}|${now - 2 * hour}|cpu=1,gres/gpu=1,node=1|reserve`,
	`13|bob|RUNNING|${now - 5 * hour}|${now - 3 * hour}|Unknown|cpu=1,gres/gpu=1,node=1|python`,
	`14|ann|COMPLETED|${now - 5 * hour}|${now - 3 * hour}|${now - 2 * hour}|cpu=64,node=1|no GPU`,
	`15|ann|CANCELLED by 0|${now - 5 * hour}|None|${now - 2 * hour}|cpu=1,gres/gpu=4|never began`,
	'',
].join('\n');

const cluster = (config: Partial<ClusterConfig>, asked: string[][] = []): Cluster =>
	({
		config: async () => ({accountingType: 'accounting_storage/slurmdbd', accountingTres: 'cpu,gres/gpu', ...config}),
		async run(...words: string[]) {
			asked.push(words);
			return answer;
		},
	}) as unknown as Cluster;

test('accountedUsage returns one record per GPU of each ended job', async () => {
	const asked: string[][] = [];
	const records: UsageRecord[] = await Array.fromAsync(accountedUsage(cluster({}, asked), now - 24 * hour, now));
	expect(
		records.map(({user, leaseId, durationSeconds, reservationType, note, gpuId}) => [
			user,
			leaseId,
			durationSeconds / hour,
			reservationType,
			note,
			gpuId,
		]),
	).toEqual([
		['ann', '11', 2, 'run', 'train|x', undefined],
		['ann', '11', 2, 'run', 'train|x', undefined],
		['bob', '12', 1, 'manual', undefined, undefined],
	]);
	expect(asked).toHaveLength(1);
	expect(asked[0]).toEqual(expect.arrayContaining(['sacct', '--allusers', '--parsable2', '--noheader']));
});

test("the report adds up Slurm's records by user and shows the GPU as unknown", async () => {
	const window = {from: now - 24 * hour, to: now};
	const history = () => accountedUsage(cluster({}), window.from, window.to);
	const byUsers = await makeReport(history(), [], {window, split: byUser});
	expect(byUsers.rows.map(({key, gpuHours}) => [key, gpuHours])).toEqual([
		['ann', 4],
		['bob', 1],
	]);
	const byGpus = await makeReport(history(), [], {window, split: byGpu});
	expect(byGpus.rows.map(({key, gpuHours}) => [key, gpuHours])).toEqual([['unknown', 5]]);
});

test.each<[Partial<ClusterConfig>, RegExp]>([
	[{accountingType: 'accounting_storage/none'}, /accounting is off/v],
	[{accountingType: ''}, /accounting is off/v],
	[{accountingTres: 'cpu,mem,node'}, /does not record GPUs/v],
])('accountedUsage with %j fails with a hint and sends no query', async (config, words) => {
	const asked: string[][] = [];
	await expect(Array.fromAsync(accountedUsage(cluster(config, asked), 0, now))).rejects.toMatchObject({
		code: 'failed',
		message: expect.stringMatching(words) as string,
		hint: expect.stringContaining('AccountingStorageTRES=gres/gpu') as string,
	});
	expect(asked).toEqual([]);
});

test("events from Slurm's database equal those from the controller, but have no GPU numbers", () => {
	expect(
		recentEvents(readAccounting(answer), [], {}).map(({kind, leaseId, count, reason}) => [
			kind,
			leaseId,
			count,
			reason,
		]),
	).toEqual([
		['joined', '11', 2, undefined],
		['joined', '12', 1, undefined],
		['joined', '15', 4, undefined],
		['granted', '11', 2, undefined],
		['granted', '12', 1, undefined],
		['ended', '11', 2, 'exited'],
		['ended', '12', 1, 'released'],
		['left', '15', 4, undefined],
	]);
});

test('gpusIn adds up all GPU types if the total is missing', () => {
	expect(gpusIn('gres/gpu:a100=2,gres/gpu:v100=1,gres/gpu=3')).toBe(3);
	expect(gpusIn('gres/gpu:a100=2,gres/gpu:v100=1')).toBe(3);
	expect(gpusIn('cpu=4,gres/gpumem=80G,gres/shard=2')).toBe(0);
});

test('readAccounting accepts any answer', () => {
	fc.assert(
		fc.property(fc.array(fc.array(fc.string({maxLength: 12}), {maxLength: 12})), (lines) => {
			const jobs = readAccounting(lines.map((words) => words.join('|')).join('\n'));
			return jobs.every(({gpus, endTime}) => gpus!.count > 0 && Number.isFinite(endTime));
		}),
	);
});
