import {expect, test} from 'vitest';
import {ProcessCell, Usage} from '../../../../source/tui/panels/gpus/process-cell.js';
import {Label} from '../../../../source/tui/widgets/label.js';
import {drawn, painted} from '../../_drawn.js';
import {stateOf} from '../../_harness.js';
import {createBox, gpuReading, lease, sceneTime} from '../../_world.js';
import {heldRow, shareRow, statusRow} from '../_rows.js';

const state = await stateOf(await createBox(1), {columns: 100, rows: 30});

const train = {pid: 1, user: 'bob', commandLine: '/usr/bin/train --lr 1', memoryUsedMiB: 900};
const small = {pid: 2, user: 'bob', name: 'small', memoryUsedMiB: 10};
const hostile = {pid: 3, user: 'da\u{1B}[31mve', commandLine: 'mi\u{7}ner', memoryUsedMiB: 5};
const place = (node: string, gpu: number) => ({...gpuReading(0), place: {node, gpu}});
const bob = heldRow(lease('bob'));
const warning = {since: sceneTime - 3600, deadline: sceneTime + 720};
const limit = {value: 4, key: 'limit.gpus', text: '4'};
const overused = shareRow(lease('bob', {memoryMiB: 8192}), {memoryUsedMiB: 16_384});
const shared = (...shares: ReadonlyArray<typeof overused>) => statusRow({state: 'in-use', shares, capacityMiB: 81_920});

test.each([
	['no processes', statusRow({reading: gpuReading(0)}), '-', 'dim'],
	['hidden processes', statusRow({reading: gpuReading(0, {processes: undefined})}), 'hidden', 'dim'],
	[
		'no processes of a failed GPU',
		statusRow({reading: gpuReading(0, {processes: undefined, failure: 'lost'})}),
		'-',
		'dim',
	],
	['its largest process', {...bob, processes: [small, train]}, 'train --lr 1 +1', 'plain'],
	[
		'a user who is not the holder',
		{...bob, processes: [train, hostile], squatters: [hostile]},
		'! dave: mi ner',
		'warning',
	],
	[
		'a process that an ended job left',
		statusRow({
			processes: [train],
			left: {account: 'al\u{1B}[0mice', leaseId: 'l', endedAt: sceneTime, processes: [train]},
		}),
		"left by alice's job, ended 14:32: train --lr 1",
		'warning',
	],
	['its shares', shared(shareRow(lease('alice', {memoryMiB: 8192}))), '8/80G alice 8G', 'plain'],
	['a share that uses too much', shared(overused), '8/80G bob 16/8G!', 'warning'],
	['its place on a cluster', {...bob, reading: place('box2', 1), processes: []}, 'GPU 1 of box2', 'plain'],
	[
		'the nodes of a folded row',
		{...bob, members: [place('box1', 0), place('box2', 0)].map((reading) => statusRow({reading}))},
		'2 GPUs of box1, box2',
		'plain',
	],
	[
		'its MIG instances',
		statusRow({reading: gpuReading(0, {migInstances: [{profile: '1g.10gb'}]})}),
		'MIG 1g.10gb',
		'plain',
	],
	['when the idle GPU goes back', {...bob, warning, processes: [train]}, 'goes back at 14:44: train --lr 1', 'warning'],
	['a limit', {...bob, beyondLimit: {limit, deadline: undefined}}, 'beyond limit', 'warning'],
	['until when an unused GPU is kept', {...bob, keepUntil: sceneTime + 60}, 'kept until 14:33', 'plain'],
	[
		'the process of a kept GPU in use',
		{...bob, keepUntil: sceneTime + 60, processes: [train]},
		'train --lr 1',
		'plain',
	],
] as const)('Usage shows %s', (_, row, text, tone) => {
	const usage = <Usage row={row} />;
	expect(drawn(usage, {state})).toBe(text);
	expect(painted(usage, 'dark', {state})).toBe(painted(<Label tone={tone}>{text}</Label>, 'dark'));
});

test('Usage in a narrow column uses shorter words', () => {
	expect(drawn(<Usage row={{...bob, warning}} width={14} />, {state})).toBe('back at 14:44');
});

const drain = {reason: 'fan', by: 'root', since: 1};
const xid = {kind: 'xid', words: 'Xid 79'} as const;
const drained = {state: 'error', drain, problem: 'drained: fan'} as const;

test.each([
	['a fault', statusRow({state: 'error', problem: 'GPU is \u{1B}[31mlost'}), 'GPU is lost', 'error'],
	['a drain', statusRow(drained), 'drained by root: fan', 'warning'],
	['the processes of a drained GPU', statusRow({...drained, processes: [train]}), 'train --lr 1', 'plain'],
	['a health problem before processes', {...bob, health: [xid], processes: [train]}, 'Xid 79', 'error'],
	['processes if there is no fault', {...bob, processes: [train]}, 'train --lr 1', 'plain'],
] as const)('ProcessCell shows %s', (_, row, text, tone) => {
	const cell = <ProcessCell row={row} width={40} />;
	expect(drawn(cell, {state})).toBe(text);
	expect(painted(cell, 'dark', {state})).toBe(painted(<Label tone={tone}>{text}</Label>, 'dark'));
});

test('ProcessCell shows no fault before the first scan', () => {
	const row = statusRow({state: 'error', problem: 'not scanned yet'});
	expect(drawn(<ProcessCell row={row} width={40} />, {state: {...state, observation: undefined}})).toBe('-');
});
