/** Keys that act other than by reserving and releasing: wait, undo, adopt, signal, copy, pause. */
import {Buffer} from 'node:buffer';
import {afterEach, expect, test, vi} from 'vitest';
import type {FactsOfProcesses, GpuProcess} from '../../source/core/model/types.js';
import {CanhazgpuError} from '../../source/errors.js';
import {leaveQueue} from '../../source/core/operations/waiting/leave-queue.js';
import type {MonitorPorts} from '../../source/tui/ports.js';
import {person} from '../_helpers/world.js';
import {splitReading} from '../_helpers/mig-box.js';
import {endSession, keys, startMonitor, type Session} from './_harness.js';
import {busy, createBox, gpuReading, lease, waiter, type Box} from './_world.js';

const root = person('root', 'root', 0);

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

const held = async (box: Box) =>
	(await box.store.read()).gpus.map((record) => (record.kind === 'leased' ? record.lease : undefined));

const lineOf = async (box: Box) => (await box.store.read()).queue.map(({id}) => id);

const release = async (box: Box, index: number): Promise<void> => {
	await box.write({kind: 'free', index, lastReleased: undefined});
};

test('the key w waits in the queue, reserves the GPU when it is free, and reports the reservation', async () => {
	const box = await createBox(2, {leases: {0: lease('bob'), 1: lease('bob')}});
	session = startMonitor(box, {size: {columns: 120, rows: 32}});
	await session.shows(/> 0 +Reserved/v);
	await session.press('w', keys.tab, '2h');
	await session.shows('$ canhazgpu reserve --gpus 1 --duration 2h');
	await session.press(keys.enter);
	await session.shows('WAIT Waiting for 1 GPU: position 1 of 1, got 0/1');
	await session.shows('Queue 1');
	expect(session.store.getState().dialog).toBeUndefined();
	await release(box, 1);
	await session.shows('OK reserved GPU 1 for 2h 0m 0s');
	await session.shows('$ export CUDA_VISIBLE_DEVICES=1');
	expect((await held(box))[1]).toMatchObject({user: 'alice', type: 'manual'});
	expect(await lineOf(box)).toEqual([]);
	expect(session.store.getState().waits).toEqual([]);
});

test('the key r with a MIG profile reserves an instance and shows its UUID', async () => {
	const box = await createBox(2, {readings: [gpuReading(0), splitReading(1, ['1g.10gb', '3g.40gb'])]});
	session = startMonitor(box, {size: {columns: 120, rows: 32}});
	await session.shows(/> 0 +H100 +Free/v);
	await session.press('r');
	await session.shows('Free now: GPU 0 (1 more split by MIG)');
	await session.shows('MIG free: 1/1 1g.10gb, 1/1 3g.40gb');
	await session.press(keys.tab, keys.tab, keys.tab, '2g.20gb');
	await session.shows('$ canhazgpu reserve --gpus 1 --mig 2g.20gb --duration 8h');
	await session.press(keys.enter);
	await session.shows('OK reserved 1 MIG instance(s): [1:1] for 8h 0m 0s');
	await session.shows('$ export CUDA_VISIBLE_DEVICES=MIG-1-1');
	const [whole, split] = (await box.store.read()).gpus;
	expect(whole!.kind).toBe('free');
	expect(split).toMatchObject({kind: 'shared', shares: [{user: 'alice', mig: {uuid: 'MIG-1-1'}}]});
	await session.press('r', keys.tab, keys.tab, keys.tab, '7g.80gb', keys.enter);
	await session.shows('No MIG instance of this pool is 7g.80gb or larger');
	await session.shows('The pool has 1 of 1g.10gb, 1 of 3g.40gb.');
	await session.press(keys.escape, 'j', 'y');
	await session.shows(/OK Copied.*\$ export CUDA_VISIBLE_DEVICES=MIG-1-1/v);
});

test('the keys x and e on a GPU with two own MIG instances name the instance, and show the command for the other one', async () => {
	const box = await createBox(1, {readings: [splitReading(0, ['1g.10gb', '3g.40gb'])]});
	const shares = [0, 1].map((number) =>
		lease('alice', {mig: {uuid: `MIG-0-${number}`, number}, leaseId: `lease-${number}`}),
	);
	await box.write({kind: 'shares', index: 0, shares});
	session = startMonitor(box, {size: {columns: 120, rows: 32}});
	await session.shows(/0 +Mine/v);
	await session.press('e');
	await session.shows('Extend MIG instance 0:0');
	await session.shows('MIG instance 0:0, alice, MANUAL');
	await session.shows('$ canhazgpu extend --gpu-ids 0 --lease lease-0 --duration 1h');
	await session.shows('Also yours here: MIG instance 0:1. For it: canhazgpu extend --gpu-ids 0 --lease');
	await session.shows('lease-1');
	await session.press(keys.escape, 'x');
	await session.shows('Release MIG instance 0:0 now?');
	await session.shows('lease-1');
	await session.press('y');
	await session.shows('released MIG instance 0:0');
	expect((await box.store.read()).gpus).toMatchObject([{shares: [{leaseId: 'lease-1'}]}]);
	await session.press('z');
	await session.shows('reserved MIG instance 0:0 again');
});

test('the key w reserves free GPUs at once', async () => {
	const box = await createBox(2);
	session = startMonitor(box);
	await session.shows(/> 0 +Free/v);
	await session.press('w', keys.enter);
	await session.shows('OK reserved GPU 0');
	expect(await lineOf(box)).toEqual([]);
});

test('if a reservation with the key r is refused, the dialog offers the key w to wait in the queue', async () => {
	const box = await createBox(2, {leases: {0: lease('bob'), 1: lease('bob')}});
	session = startMonitor(box, {size: {columns: 120, rows: 32}});
	await session.shows(/> 0 +Reserved/v);
	// In the note field, w is a letter. After the refusal it is a key.
	await session.press('r', keys.tab, keys.tab, 'wow', keys.enter);
	await session.shows('w waits for them in the queue');
	await session.press('w');
	await session.shows('WAIT Waiting for 1 GPU: position 1 of 1');
	const [id] = await lineOf(box);
	await session.press('3', 'x');
	await session.shows(`$ canhazgpu queue --leave ${id}`);
	await session.press('j');
	expect(session.store.getState().dialog).toBeUndefined();
	expect(await lineOf(box)).toEqual([id]);
	await session.press('x', 'y');
	await session.shows(/left the queue/v);
	expect(await lineOf(box)).toEqual([]);
	await expect.poll(() => session!.store.getState().waits).toEqual([]);
});

test('top says so if somebody else removes its waiting request from the queue, and stays quiet if its user does', async () => {
	const box = await createBox(1, {leases: {0: lease('bob')}});
	session = startMonitor(box);
	await session.shows(/> 0 +Reserved/v);
	await session.press('w', keys.enter);
	await session.shows('WAIT');
	const [first] = await lineOf(box);
	await leaveQueue(box.world, root, first!);
	await session.shows('Your request was removed from the queue. To wait again, press w');
	await session.press('w', keys.enter);
	await session.shows('WAIT');
	await session.press('3', 'x', 'y');
	await expect.poll(() => session!.store.getState().waits).toEqual([]);
	expect(session.store.getState().flash?.text).not.toContain('removed');
});

test('top notifies its user when GPUs are granted after a wait, but not when they are granted at once', async () => {
	const notifyGranted = vi.fn<NonNullable<MonitorPorts['notifyGranted']>>(async () => undefined);
	const box = await createBox(2, {leases: {1: lease('bob')}});
	session = startMonitor(box, {ports: {notifyGranted}});
	await session.shows(/> 0 +Free/v);
	await session.press('w', keys.enter);
	await session.shows('OK reserved GPU 0');
	await session.press('w', keys.enter);
	await session.shows('WAIT');
	expect(notifyGranted).not.toHaveBeenCalled();
	await release(box, 1);
	await session.shows('OK reserved GPU 1');
	expect(notifyGranted.mock.calls).toMatchObject([[{count: 1}, {gpus: [1]}]]);
});

test('the key q asks before it removes a waiting request from the queue and quits', async () => {
	const box = await createBox(1, {leases: {0: lease('bob')}});
	session = startMonitor(box);
	await session.shows(/> 0 +Reserved/v);
	await session.press('w', keys.enter);
	await session.shows('WAIT');
	await session.press('q');
	await session.shows('1 request waits in the queue from this monitor');
	await session.press('n');
	expect(session.quits()).toBe(0);
	await session.press('q', 'y');
	expect(session.quits()).toBe(1);
	await session.leaveAll();
	expect(await lineOf(box)).toEqual([]);
});

test('the question whether to quit closes when no request waits any more', async () => {
	const box = await createBox(1, {leases: {0: lease('bob')}});
	session = startMonitor(box);
	await session.shows(/> 0 +Reserved/v);
	await session.press('w', keys.enter);
	await session.shows('WAIT');
	await session.press('q');
	await session.shows('1 request waits in the queue from this monitor');
	await release(box, 0);
	await session.shows('OK reserved GPU 0');
	await session.hides('request waits');
	await session.press('y');
	expect(session.quits()).toBe(0);
});

test('the key x refuses to remove the queue entry of another account', async () => {
	const box = await createBox(1, {leases: {0: lease('bob')}, waiting: [waiter('erin')]});
	session = startMonitor(box);
	await session.shows('Queue 1');
	await session.press('3', 'x');
	await session.shows('WARN That entry belongs to erin: only its owner can cancel it');
	expect(await lineOf(box)).toEqual(['entry-erin']);
});

test('the key z undoes a release only once, and only while the GPU is free', async () => {
	const box = await createBox(1, {leases: {0: lease('alice', {note: 'eval', user: 'team'})}});
	session = startMonitor(box);
	await session.shows(/> 0 +Mine/v);
	const [before] = await held(box);
	await session.press('z');
	await session.shows('WARN Nothing to undo');
	await session.press('x', 'y');
	await session.shows(/OK released GPU 0 .* z Undo release \((?:10|9)s\)/v);
	await session.press('zz');
	await session.shows('OK reserved GPU 0 again, until the same time as before');
	const [after] = await held(box);
	expect(after).toMatchObject({user: 'team', actualUser: 'alice', note: 'eval', expiryTime: before!.expiryTime});
	expect(after!.leaseId).not.toBe(before!.leaseId);
	await session.hides('Undo release (');
});

test('the key z can undo a release later if the store fails at first', async () => {
	const box = await createBox(1, {leases: {0: lease('alice')}});
	session = startMonitor(box);
	await session.shows(/> 0 +Mine/v);
	await session.press('x', 'y');
	await session.shows('z Undo');
	vi.spyOn(box.store, 'commit').mockRejectedValueOnce(new CanhazgpuError('failed', 'no answer'));
	await session.press('z');
	await session.shows('ERR no answer');
	await session.press('z');
	await session.shows('OK reserved GPU 0 again');
});

test('releasing a share says so', async () => {
	const box = await createBox(1);
	await box.write({kind: 'shares', index: 0, shares: [lease('alice', {memoryMiB: 8192})], capacityMiB: 81_920});
	session = startMonitor(box);
	await session.shows(/> 0 +Mine/v);
	await session.press('x');
	await session.shows('Release a share of 8G of GPU 0');
	await session.press('y');
	await session.shows('OK released a share of 8G of GPU 0');
});

test('the key z does not undo a release if another account now holds the GPU, and names that account', async () => {
	const box = await createBox(1, {leases: {0: lease('alice')}});
	session = startMonitor(box);
	await session.shows(/> 0 +Mine/v);
	await session.press('x', 'y');
	await session.shows('z Undo');
	await box.write({kind: 'lease', index: 0, lease: lease('bob', {expiryTime: undefined})});
	await session.press('z');
	await session.shows('ERR Not undone: GPU 0 is held by bob');
	expect((await held(box))[0]).toMatchObject({user: 'bob'});
});

const squatted = async (): Promise<Box> => {
	const box = await createBox(2, {
		readings: [busy(0, 'alice', 'python train.py', {gibibytes: 10, percent: 50}), gpuReading(1)],
	});
	const [first, second] = box.readings;
	box.readings = [{...first!, processes: first!.processes!.map((each) => ({...each, startTicks: 777}))}, second!];
	return box;
};

test("the key R reserves a GPU for the user's process that uses the GPU without a reservation", async () => {
	const box = await squatted();
	session = startMonitor(box);
	await session.shows(/> 0 +Unreserved/v);
	await session.press('R');
	await session.shows('$ canhazgpu reserve --pid 81234');
	await session.press('y');
	await session.shows('OK adopted process 81234 (python3) on GPU 0');
	expect((await held(box))[0]).toMatchObject({type: 'run', job: {pid: 81_234, startTicks: 777}});
});

test('the key K sends the chosen signal to the chosen process, but only after the key y confirms it', async () => {
	const box = await squatted();
	const [first, second] = box.readings;
	const another = {pid: 99, startTicks: 5, user: 'alice', name: 'ray', memoryUsedMiB: 3};
	const others = {pid: 98, startTicks: 5, user: 'bob', name: 'bash', memoryUsedMiB: 4};
	box.readings = [{...first!, processes: [another, others, ...first!.processes!]}, second!];
	const sent: unknown[] = [];
	session = startMonitor(box, {
		ports: {
			sendSignal(...words) {
				sent.push(words);
				return 'sent';
			},
		},
	});
	await session.shows(/> 0 +Unreserved/v);
	await session.press('k');
	expect(session.store.getState().dialog).toBeUndefined();
	await session.press('K');
	await session.shows('$ kill -TERM 81234');
	await session.hides('bash');
	await session.press('Y');
	expect(session.store.getState().dialog).toBeUndefined();
	await session.press('K', keys.enter, 'K', 'yy');
	expect(sent).toEqual([]);
	await session.press(keys.escape, 'K', keys.down, keys.tab);
	await session.shows('$ kill -INT 99');
	await session.press('y');
	await session.shows('OK sent SIGINT to process 99');
	expect(sent).toEqual([[{pid: 99, startTicks: 5}, 'SIGINT']]);
});

/** The monitor sees a scan of another account, in which alice's process is on GPU 0. */
const deceived = async (shown: GpuProcess, facts: FactsOfProcesses) => {
	const box = await createBox(2);
	const posted = [{...gpuReading(0), memoryUsedMiB: 39_000, processes: [shown]}, gpuReading(1)];
	const sent: unknown[] = [];
	session = startMonitor(box, {
		size: {columns: 120, rows: 32},
		watched: {
			...box.world.gpus,
			observe: async () => ({...(await box.world.gpus.observe()), gpus: posted}),
		},
		ports: {
			inspectProcesses: async () => facts,
			sendSignal(...words) {
				sent.push(words);
				return 'sent';
			},
		},
	});
	await session.shows(/> 0 +Unreserved/v);
	return {box, sent};
};

const zombie = {
	pid: 4242,
	startTicks: 9,
	user: 'alice',
	name: 'python3',
	commandLine: 'python3 leftover.py',
	memoryUsedMiB: 39_000,
};
const daemon = {pid: 4242, startTicks: 9, isOwn: true, user: 'alice', name: 'sshd', commandLine: 'sshd: alice'};

test.each([
	['is on no GPU', new Map([[4242, daemon]]), 'WARN Process 4242 is not on GPU 0, according to a new scan'],
	[
		'belongs to another account',
		new Map([[4242, {...daemon, isOwn: false, user: 'bob'}]]),
		'WARN Process 4242 belongs to bob',
	],
	['has a reused pid', new Map([[4242, {...daemon, startTicks: 10}]]), 'WARN Process 4242 has already ended'],
	['does not exist', new Map(), 'WARN Process 4242 has already ended'],
])('the key K refuses a process that only a forged scan shows, if the process %s', async (_what, facts, words) => {
	const {sent} = await deceived(zombie, facts);
	await session!.press('K');
	await session!.shows(words);
	await session!.press('y');
	expect(session!.store.getState().dialog).toBeUndefined();
	expect(sent).toEqual([]);
});

test("the key K shows the kernel's name of a process, not the name in another account's scan", async () => {
	const {box, sent} = await deceived(zombie, new Map([[4242, daemon]]));
	box.readings = [{...gpuReading(0), processes: [{pid: 4242}]}, gpuReading(1)];
	await session!.press('K');
	await session!.shows('Send SIGTERM to process 4242? y/N');
	await session!.shows('4242  sshd: alice');
	// The process leaves the GPU before the key y confirms.
	box.readings = [gpuReading(0), gpuReading(1)];
	await session!.press('y');
	await session!.shows('ERR Nothing sent: process 4242 is not on GPU 0, according to a new scan');
	expect(sent).toEqual([]);
});

test('the key R does not reserve a GPU for a process that only the scan of another account shows', async () => {
	const {box} = await deceived(zombie, new Map([[4242, daemon]]));
	await session!.press('R');
	await session!.shows('--gpu-ids 0');
	await session!.press(keys.escape);
	box.readings = [{...gpuReading(0), processes: [{pid: 4242}]}, gpuReading(1)];
	await session!.press('R');
	await session!.shows('$ canhazgpu reserve --pid 4242');
	await session!.shows('sshd: alice');
});

test('the key K refuses to signal processes if only other accounts have processes on the GPU', async () => {
	session = startMonitor(
		await createBox(1, {readings: [busy(0, 'dave', 'jupyter-lab', {gibibytes: 19, percent: 41})]}),
	);
	await session.shows(/> 0 +Unreserved/v);
	await session.press('K');
	await session.shows('WARN No process of yours is on GPU 0, only of dave');
});

test.each([false, true])(
	"the key y copies the command that selects the reserved GPUs to the terminal's clipboard (in tmux: %s)",
	async (isInTmux) => {
		const shared = {leaseId: 'both'};
		const leases = {
			0: lease('alice', shared),
			1: lease('bob'),
			2: lease('alice', shared),
			3: lease('alice', {leaseId: 'x'}),
		};
		session = startMonitor(await createBox(4, {leases}), {ports: {isInTmux}});
		await session.shows(/> 0 +Mine/v);
		await session.press('y');
		await session.shows(/OK Copied \(if your terminal allows OSC 52\).*\$ export CUDA_VISIBLE_DEVICES=0,2/v);
		const plain = `\u{1B}]52;c;${Buffer.from('export CUDA_VISIBLE_DEVICES=0,2').toString('base64')}\u{7}`;
		expect(session.written()).toContain(plain);
		expect(session.written().includes(`\u{1B}Ptmux;\u{1B}${plain}\u{1B}\\`)).toBe(isInTmux);
		await session.press('j', 'y');
		await session.shows('WARN GPU 1 is not yours');
	},
);

test('the key Y copies the UUIDs of the tagged GPUs and skips invalid UUIDs', async () => {
	const box = await createBox(3, {readings: [gpuReading(0), gpuReading(1), gpuReading(2, {uuid: 'GPU-2; rm -rf ~'})]});
	session = startMonitor(box);
	await session.shows(/> 0 +Free/v);
	await session.press(' ', ' ', 'Y');
	await session.shows('OK Copied 2 UUIDs (if your terminal allows OSC 52)');
	const uuids = box.readings.slice(0, 2).map(({uuid}) => uuid);
	expect(session.written()).toContain(`]52;c;${Buffer.from(uuids.join(',')).toString('base64')}`);
	await session.press(' ', 'Y');
	await session.shows('WARN GPU 2 has no known UUID');
});

test('the key Z pauses the display, and actions still check the current state', async () => {
	const box = await createBox(2, {leases: {0: lease('alice')}});
	session = startMonitor(box, {size: {columns: 120, rows: 32}, scanIntervalMs: 200});
	await session.shows(/> 0 +Mine/v);
	await session.press('Z');
	await session.shows(/\[PAUSED \ds\]/v);
	await box.write({kind: 'lease', index: 0, lease: lease('bob')}, {kind: 'lease', index: 1, lease: lease('bob')});
	await expect.poll(() => session!.store.getState().pause?.latest.snapshot?.gpus[1]?.kind).toBe('leased');
	expect(session.line('> 0 ')).toContain('Mine');
	await session.shows('Free 1  Mine 1');
	await session.press('x', 'y');
	await session.shows('ERR Nothing released: that reservation of GPU 0 has already ended');
	await session.press('Z');
	await session.shows('Free 0  Mine 0  Others 2');
	await session.hides('PAUSED');
});

test('the key r with the option Force reserves a GPU that is in use without a reservation', async () => {
	const box = await createBox(1, {readings: [busy(0, 'dave', 'jupyter-lab', {gibibytes: 19, percent: 41})]});
	session = startMonitor(box);
	await session.shows(/> 0 +Unreserved/v);
	await session.press('r', keys.enter);
	await session.shows('Not enough GPUs available');
	await session.press(keys.shiftTab, ' ');
	await session.shows('--duration 8h --force');
	await session.press(keys.enter);
	await session.shows('OK reserved GPU 0');
});

test('top --readonly refuses every key that changes something, with the reason', async () => {
	const box = await squatted();
	session = startMonitor(box, {isReadonly: true});
	await session.shows(/> 0 +Unreserved/v);
	for (const key of ['r', 'R', 'w', 'x', 'e', 'K', 'z']) {
		await session.press(key);
		await session.shows('WARN This monitor is read-only: it was started with --readonly');
		expect(session.store.getState().dialog).toBeUndefined();
		await session.press('?', keys.escape);
		session.store.dispatch({kind: 'ticked', nowMs: box.world.clock.monotonicMs() + 5000});
	}
});

test('the key o shows only the events of the selected GPU, newest first', async () => {
	const box = await createBox(2, {leases: {0: lease('bob'), 1: lease('carol')}});
	session = startMonitor(box, {size: {columns: 120, rows: 32}});
	await session.shows(/> 0 +Reserved/v);
	await session.press('o');
	await session.shows('There are no recorded events for GPU 0');
	const auditEvent = (kind: 'granted' | 'released', gpus: readonly number[], account: string) => ({
		time: 0,
		kind,
		gpus,
		account,
	});
	await box.store.commit({
		expect: [],
		writes: [],
		usage: [],
		audit: [
			auditEvent('granted', [0, 1], 'bob'),
			auditEvent('granted', [1], 'carol'),
			auditEvent('released', [0], 'bob'),
		],
		event: {kind: 'granted', gpus: [0]},
		grants: false,
	});
	await session.press('o');
	await session.shows('What happened to GPU 0');
	const {dialog} = session.store.getState();
	expect(dialog?.kind === 'output' ? dialog.lines.map((line) => line.replace(/^.*\d\d /v, '')) : dialog).toEqual([
		'bob released GPU 0',
		'bob got GPUs 0,1',
	]);
	await session.press(keys.escape);
	expect(session.store.getState().dialog).toBeUndefined();
});
