/** The row and the detail of GPUs that are drained, unhealthy, in MIG mode, or hide their processes. */
import {expect, test} from 'vitest';
import type {Write} from '../../../source/core/model/plan.js';
import type {GpuReading} from '../../../source/core/model/types.js';
import {states, stateText, type MonitorState} from '../../../source/format/states.js';
import {stateTones} from '../../../source/tui/panels/shared/row-words.js';
import {DetailPanel} from '../../../source/tui/panels/detail/detail-panel.js';
import {GpuTable} from '../../../source/tui/panels/gpus/gpus-panel.js';
import {MessageLine} from '../../../source/tui/panels/message.js';
import {Summary} from '../../../source/tui/panels/summary.js';
import type {State} from '../../../source/tui/state/state.js';
import {frameOf, stateOf, textOf} from '../_harness.js';
import {createBox, gpuReading, run, sceneTime} from '../_world.js';

const size = {columns: 180, rows: 32};

const drain: Write = {kind: 'drains', drains: new Map([[0, {reason: 'fan', by: 'root', since: sceneTime - 7200}]])};

async function shown(reading: GpuReading, {isDrained = false, isHeld = false} = {}) {
	const box = await createBox(1, {readings: [reading], leases: isHeld ? {0: run('alice')} : {}});
	if (isDrained) {
		await box.write(drain);
	}

	const state = await stateOf(box, size);
	const wide = {...state, size: {...state.size, columns: 400}};
	const [, row = ''] = textOf(state, <GpuTable width={177} height={10} />).split('\n', 2);
	return {
		row: row.replaceAll(/\s+/gv, ' ').trim(),
		detail: detailOf(state),
		summary: textOf(state, <Summary />),
		spoken: frameOf({...wide, settings: {...wide.settings, isLinear: true}}).split('\n'),
	};
}

/** Returns the lines inside the detail, without its borders. */
const detailOf = (state: State): readonly string[] =>
	textOf(state, <DetailPanel width={120} rows={20} />)
		.split('\n')
		.slice(1, -1)
		.map((line) => line.slice(1, -1).trim().replaceAll(/\s+/gv, ' '))
		.filter((line) => line !== '');

test('the summary shows the limit of a total only if the limit of each counted GPU is known', async () => {
	const readings = [
		gpuReading(0, {memoryUsedMiB: 40_780, powerWatts: 300}),
		gpuReading(1, {memoryUsedMiB: undefined, powerWatts: undefined}),
		gpuReading(2, {memoryUsedMiB: 2048, memoryTotalMiB: undefined, powerWatts: 100, powerLimitWatts: undefined}),
	];
	const summaryOf = async (some: readonly GpuReading[]): Promise<string> => {
		const state = await stateOf(await createBox(some.length, {readings: some}), size);
		return textOf(state, <Summary />);
	};

	expect(await summaryOf(readings.slice(0, 2))).toMatch(/Mem \S+ 40\/159G {2}Power \S+ 0\.3\/1\.4kW/v);
	expect(await summaryOf(readings)).toMatch(/Mem \S+ 40\/159G {2}Power 0\.4kW/v);
	expect(await summaryOf(readings.slice(2).map((one) => ({...one, index: 0})))).toMatch(
		/Util \S+ +0% {2}Power 0\.1kW/v,
	);
});

test('a process that a job has left behind is shown together with this job', async () => {
	const process = {pid: 100, startTicks: 5, user: 'alice', commandLine: 'python3 serve.py', memoryUsedMiB: 9000};
	const box = await createBox(1, {readings: [gpuReading(0, {memoryUsedMiB: 9000, processes: [process]})]});
	const ended = {reason: 'exited', leaseId: 'l', account: 'alice', left: [{pid: 100, startTicks: 5}]} as const;
	await box.write({kind: 'free', index: 0, lastReleased: sceneTime - 120, ended});
	const state = await stateOf(box, size);
	const words = String.raw`left by alice's job, ended \d\d:\d\d`;
	expect(textOf(state, <GpuTable width={177} height={10} />)).toMatch(
		new RegExp(String.raw`Unreserved alice\? .*${words}: pytho`, 'v'),
	);
	expect(detailOf(state)[0]).toMatch(new RegExp(String.raw`^alice\? ${words}$`, 'v'));
});

const xid = {kind: 'xid', words: 'Xid 79: GPU has fallen off the bus'} as const;

const timesIn = (texts: readonly string[], word: string): number => texts.join('\n').split(word).length - 1;

test('a drained GPU is not shown as an error, and the reason for its drain appears once', async () => {
	const {row, detail, summary, spoken} = await shown(gpuReading(0), {isDrained: true});
	expect(row).toMatch(/^> 0 Drained .* drained by root: fan$/v);
	expect(detail.slice(0, 2)).toEqual(['Drained', 'drained by root: fan, 2h00m ago']);
	expect(summary).toMatch(/Drained 1 .*Error 0/v);
	expect(timesIn(spoken, 'fan')).toBe(1);
});

test('a drained GPU that is still leased shows its processes', async () => {
	const processes = [{pid: 81_234, user: 'alice', commandLine: 'python train.py', memoryUsedMiB: 9000}];
	const {row} = await shown(gpuReading(0, {memoryUsedMiB: 9000, processes}), {isDrained: true, isHeld: true});
	expect(row).toMatch(/^> 0 Mine .* python train.py$/v);
});

test.each([true, false])(
	'a fault of a GPU appears once in its row and once in the detail panel (leased: %s)',
	async (isHeld) => {
		const {row, detail, spoken} = await shown(gpuReading(0, {health: [xid]}), {isHeld});
		expect(row).toMatch(/Xid 79/v);
		expect([timesIn(detail, 'Xid 79'), timesIn(spoken, 'Xid 79')]).toEqual([1, 1]);
		const broken = await shown(gpuReading(0, {health: [xid], failure: 'GPU has fallen off the bus'}), {isHeld});
		expect(timesIn(broken.detail, 'fallen off the bus')).toBe(1);
	},
);

test('a GPU with hidden processes shows that they are hidden', async () => {
	const {row, detail} = await shown(gpuReading(0, {processes: undefined}));
	expect(row).toMatch(/hidden$/v);
	expect(detail).toContainEqual(expect.stringContaining('reports no processes here'));
	expect((await shown(gpuReading(0))).row).not.toContain('hidden');
});

test('the row of a GPU in MIG mode shows its instances', async () => {
	const migInstances = ['3g.40gb', '1g.10gb', '1g.10gb'].map((profile) => ({profile}));
	expect((await shown(gpuReading(0, {migInstances}))).row).toMatch(/MIG 3g.40gb 2x1g.10gb$/v);
	const processes = [{pid: 1, user: 'alice', commandLine: 'train', memoryUsedMiB: 9}];
	expect((await shown(gpuReading(0, {migInstances, processes}))).row).toMatch(/MIG: train$/v);
	expect((await shown(gpuReading(0, {isMigEnabled: true, migInstances: []}))).row).toMatch(/MIG without instances$/v);
	expect((await shown(gpuReading(0, {isMigEnabled: true, migInstances: undefined}))).row).toMatch(/ -$/v);
});

test('each GPU state has a style and a text that fits its column', () => {
	for (const [name, {short, label}] of Object.entries(states)) {
		expect(short.length, name).toBeLessThanOrEqual(10);
		expect(label).toMatch(/^[A-Z][ a-z]+$/v);
		expect(['AVAILABLE', 'IN_USE', 'UNRESERVED', 'ERROR']).toContain(stateText[name as MonitorState]);
		expect(stateTones).toHaveProperty(name);
	}
});

test('a policy that cannot be read is reported until it is replaced', async () => {
	const box = await createBox(1, {});
	const written = (value: string): Write => ({
		kind: 'policy',
		policy: new Map([['strategy', {value, since: sceneTime}]]),
	});
	await box.write(written('\u{1B}[31mfast'));
	expect(textOf(await stateOf(box, size), <MessageLine />)).toMatch(
		/WARN +The policy cannot be read\. Until it is set again, GPUs are handed out in the default order/v,
	);
	await box.write(written('lru'));
	expect(textOf(await stateOf(box, size), <MessageLine />)).not.toContain('policy');
});

test('a GPU with leftover memory or processes is shown as not clean without naming a user', async () => {
	const box = await createBox(1, {readings: [{...gpuReading(0), memoryUsedMiB: 500, processes: []}]});
	const policy: Write = {kind: 'policy', policy: new Map([['clean', {value: 'on', since: sceneTime}]])};
	const baselines = new Map([[0, {memoryMiB: 3, uuid: gpuReading(0).uuid}]]);
	await box.write(policy);
	await box.write({kind: 'alerts', alerts: [], baselines});
	const state = await stateOf(box, size);
	const detail = detailOf(state).join('\n');
	expect(detail).toContain('not clean yet: 500MB are in use, but no process is listed: canhazgpu who 0');
	expect(detail).not.toContain('uses it without a reservation');
});
