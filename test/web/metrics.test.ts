/** Metrics of unusual GPUs and of reservations that ended. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {slowTest} from '../_helpers/slow.js';
import {account, createEmbeddedBox} from '../_helpers/program/cli.js';
import {eventually} from '../_helpers/eventually.js';
import {emptyPlan} from '../../source/core/model/plan.js';
import type {Lease} from '../../source/core/model/types.js';
import {startLiveView} from '../../source/core/live/live-view.js';
import {createMetrics} from '../../source/web/api/metrics.js';
import {createLiveWorld, liveViewOptions} from '../_helpers/live-world.js';
import {idleReading, observationOf} from '../_helpers/world.js';
import {ask, startWeb} from './_server.js';

const scenario = String.raw`
processes:
  - {gpu: 0, user: mallory, command: python eval.py, memory: 9000}
  - {gpu: 1, user: "nobody\"", command: python run.py, memory: 9000}
hidden: [{gpu: 2}]
mig: [{gpu: 6, profiles: [3g.40gb, 1g.10gb]}]
`;

slowTest('metrics name users without a reservation and distinguish the states of GPUs', async () => {
	const box = await createEmbeddedBox(7);
	onTestFinished(box.remove);
	const file = path.join(box.home, 'scenario.yaml');
	writeFileSync(file, scenario);
	const environment = {CANHAZGPU_SIMULATED_SCENARIO: file};
	await box.run('admin --drain 4', environment);
	const web = await startWeb(box, [], environment);
	onTestFinished(async () => {
		await web.end('SIGKILL');
	});
	const linesOf = async () => (await ask(web.port, '/metrics')).body.split('\n');
	await eventually(async () => (await linesOf()).includes('canhazgpu_scan_up 1'));
	await box.run('reserve --gpu-ids 0 --force --duration 1h', environment);
	await box.run('reserve --gpu-ids 2 --force --duration 1h', environment);
	await box.run('run --gpu-ids 5 -- true', environment);
	await box.run('reserve --gpu-ids 3,5 --duration 1h', environment);
	await box.run('release --gpu-ids 3', environment);
	await box.run('reserve --mig 3g.40gb --duration 1h', environment);
	await eventually(async () => {
		const lines = await linesOf();
		expect(lines).toEqual(
			expect.arrayContaining([
				String.raw`canhazgpu_gpu_unreserved_info{gpu="1",user="nobody\""} 1`,
				'canhazgpu_gpu_squatter_processes{gpu="0"} 1',
				'canhazgpu_gpu_squatter_info{gpu="0",user="mallory"} 1',
				'canhazgpu_gpu_state{gpu="4",state="drained"} 1',
				'canhazgpu_gpu_state{gpu="4",state="error"} 0',
				'canhazgpu_gpu_drained{gpu="4"} 1',
				'canhazgpu_gpu_mig_instances{gpu="6"} 2',
				`canhazgpu_gpu_mig_lease_info{gpu="6",mig="6:0",uuid="MIG-SIM-6-0",profile="3g.40gb",user="${account}",label="",type="manual"} 1`,
				'canhazgpu_ends_total 1',
				'canhazgpu_releases_total 1',
				'canhazgpu_expiries_total 0',
				'canhazgpu_queue_oldest_wait_seconds 0',
				// Two reservations, a job, a reservation of two GPUs and one of an instance, all without waiting.
				'canhazgpu_grant_wait_seconds_bucket{le="1"} 5',
				'canhazgpu_grant_wait_seconds_sum 0',
				'canhazgpu_grant_wait_seconds_count 5',
			]),
		);
		return true;
	});
	const lines = await linesOf();
	// Unknown values are omitted, never zero.
	expect(lines.filter((line) => line.startsWith('canhazgpu_gpu_squatter_processes{gpu="2"}'))).toEqual([]);
	const seconds = (name: string) =>
		Number(
			lines.find((line) => line.startsWith(`canhazgpu_gpu_lease_${name}_timestamp_seconds{gpu="0"}`))!.split(' ', 2)[1],
		);
	// Times are stored in whole seconds.
	expect(Math.abs(seconds('expiry') - seconds('start') - 3600)).toBeLessThanOrEqual(1);
	expect(lines.filter((line) => line.startsWith('canhazgpu_build_info{version="'))).toHaveLength(1);
});

slowTest('metrics record a wait in the queue when the wait ends', async () => {
	const box = await createEmbeddedBox(1);
	onTestFinished(box.remove);
	const web = await startWeb(box);
	onTestFinished(async () => {
		await web.end('SIGKILL');
	});
	const figure = async (name: string) =>
		Number(
			(await ask(web.port, '/metrics')).body
				.split('\n')
				.find((line) => line.startsWith(`canhazgpu_${name} `))!
				.split(' ', 2)[1],
		);
	await box.run('reserve --duration 1h');
	const waiting = box.run('reserve --wait 5m --duration 1h');
	await eventually(async () => (await figure('queue_length')) === 1);
	await eventually(async () => (await figure('queue_oldest_wait_seconds')) > 1);
	await box.run('release --gpu-ids 0');
	await waiting;
	await eventually(async () => (await figure('grant_wait_seconds_count')) === 2);
	expect(await figure('grant_wait_seconds_bucket{le="1"}')).toBe(1);
	expect(await figure('grant_wait_seconds_bucket{le="60"}')).toBe(2);
	expect(await figure('grant_wait_seconds_sum')).toBeGreaterThan(1);
});

test('store_up and scan_up are omitted while this host has no pool', async () => {
	const world = await createLiveWorld(1);
	const liveView = startLiveView(
		world,
		liveViewOptions((error) => {
			throw error;
		}),
	);
	onTestFinished(liveView.stop);
	let hasPool = false;
	const metrics = createMetrics({
		liveView,
		userSeconds: () => new Map(),
		streams: () => 0,
		hasPool: () => hasPool,
		version: '1',
	});
	const up = async () => (await metrics.text()).match(/^canhazgpu_(?:store|scan)_up .*$/gmv);
	expect(await up()).toBeNull();
	hasPool = true;
	await eventually(() => liveView.current().observation !== undefined && liveView.current().rows.length === 1);
	expect(await up()).toEqual(['canhazgpu_store_up 1', 'canhazgpu_scan_up 1']);
});

test('metrics of a share include its requested memory, its used memory and its overuse', async () => {
	const world = await createLiveWorld(2);
	world.see(() =>
		observationOf([
			{
				...idleReading(0),
				memoryTotalMiB: 80_000,
				memoryUsedMiB: 3000,
				processes: [{pid: 7, user: 'ann"', memoryUsedMiB: 3000}],
			},
			idleReading(1),
		]),
	);
	const share = {type: 'run', startTime: 1_700_000_000, endsBy: 1_700_003_600, leaseId: 'a', memoryMiB: 1024} as const;
	const shares: readonly Lease[] = [
		{...share, user: 'team', actualUser: 'ann"'},
		{...share, user: 'bob', leaseId: 'b', memoryMiB: 2048, endsBy: undefined},
	];
	const {now} = await world.store.read();
	const overuse = {gpu: 0, leaseId: 'a', since: now - 60, countedAt: now, scans: 0, usedMiB: 3000, isReminded: true};
	await world.memory.commit({
		...emptyPlan,
		writes: [
			{kind: 'shares', index: 0, shares, capacityMiB: 79_000},
			{kind: 'alerts', alerts: [], overuse: [{...overuse, isRecorded: true}]},
		],
	});
	const liveView = startLiveView(
		world,
		liveViewOptions((error) => {
			throw error;
		}),
	);
	onTestFinished(liveView.stop);
	const metrics = createMetrics({
		liveView,
		userSeconds: () => new Map(),
		streams: () => 0,
		hasPool: () => true,
		version: '1',
	});
	await eventually(() => liveView.current().observation !== undefined && liveView.current().rows.length === 2);
	const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('canhazgpu_gpu_share'));
	const ann = String.raw`{gpu="0",user="ann\"",label="team",type="run",lease="a"}`;
	const bob = '{gpu="0",user="bob",label="",type="run",lease="b"}';
	expect(lines.filter((line) => !line.includes('over_seconds'))).toEqual([
		`canhazgpu_gpu_share_memory_asked_bytes${ann} 1073741824`,
		`canhazgpu_gpu_share_memory_asked_bytes${bob} 2147483648`,
		`canhazgpu_gpu_share_memory_used_bytes${ann} 3145728000`,
		`canhazgpu_gpu_share_memory_used_bytes${bob} 0`,
		`canhazgpu_gpu_share_start_timestamp_seconds${ann} 1700000000`,
		`canhazgpu_gpu_share_start_timestamp_seconds${bob} 1700000000`,
		`canhazgpu_gpu_share_expiry_timestamp_seconds${ann} 1700003600`,
		'canhazgpu_gpu_shares{gpu="0"} 2',
		'canhazgpu_gpu_shares{gpu="1"} 0',
		'canhazgpu_gpu_share_capacity_bytes{gpu="0"} 82837504000',
	]);
	const over = (labels: string) =>
		Number(
			lines
				.find((line) => line.includes(`over_seconds${labels}`))
				?.split(' ')
				.at(-1),
		);
	expect(over(ann)).toBeGreaterThanOrEqual(60);
	expect(over(bob)).toBe(0);
});
