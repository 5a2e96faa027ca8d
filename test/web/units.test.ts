import {createServer, request, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {once} from 'node:events';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {expect, onTestFinished, test} from 'vitest';
import {jobRows} from '../../source/core/rules/jobs/rows.js';
import {jobWith, remoteWith, rowWith} from '../../source/web/api/commands.js';
import {job, listOf} from '../core/rules/jobs/_jobs.js';
import {CanhazgpuError} from '../../source/errors.js';
import {isLoopback} from '../../source/commands/web.js';
import type {AuditEntry} from '../../source/core/model/types.js';
import {createNextRead, startLiveView, type LiveView} from '../../source/core/live/live-view.js';
import type {RemoteHosts} from '../../source/web/api/hosts.js';
import {jobsJson} from '../../source/web/api/jobs-json.js';
import {createEncoder} from '../../source/web/api/live-json.js';
import {createReports, type ReportQuestion} from '../../source/web/api/reports.js';
import {createStreams} from '../../source/web/server/stream.js';
import {contextOf, gpuJson, waitersJson} from '../../source/web/api/status-json.js';
import {createUtilizationRecorder} from '../../source/web/api/utilization-json.js';
import {eventually} from '../_helpers/eventually.js';
import {createLiveWorld, liveViewOptions} from '../_helpers/live-world.js';
import {entryRecord, idleReading, observationOf, person, snapshotWith} from '../_helpers/world.js';
import {queueRows} from '../../source/core/rules/queue/queue-rows.js';
import {reserve} from '../../source/core/operations/reservations.js';
import {fromCommandRow} from '../../source/format/hosts/remote-gpu.js';
import {listenTo} from './_server.js';

const about = () => ({
	host: 'box',
	version: '1',
	location: 'memory',
	privateLabel: undefined,
	isDemo: false,
	hosts: ['box'],
	hasPool: true,
});

const fail = (error: unknown): void => {
	throw error;
};

async function livePicture(): Promise<{liveView: LiveView; world: Awaited<ReturnType<typeof createLiveWorld>>}> {
	const world = await createLiveWorld(2);
	const liveView = startLiveView(world, liveViewOptions(fail));
	onTestFinished(liveView.stop);
	await eventually(() => liveView.current().rows.length === 2);
	return {liveView, world};
}

test('simultaneous requests for fresh values share one scan, and see all earlier commits', async () => {
	const {liveView, world} = await livePicture();
	const before = world.scans();
	await Promise.all(Array.from({length: 50}, async () => liveView.fresh()));
	expect(world.scans() - before).toBeLessThanOrEqual(1);
	await reserve(world, {requester: person('alice'), count: 1, durationSeconds: 60});
	const {rows} = await liveView.fresh();
	expect(rows.map(({state}) => state)).toContain('in-use');
});

test('createNextRead shares one read among all requests that were made before the read began', async () => {
	let reads = 0;
	const finish: Array<() => void> = [];
	const next = createNextRead(async () => {
		const own = ++reads;
		await new Promise<void>((resolve) => {
			finish.push(resolve);
		});
		return own;
	});
	const first = next();
	await eventually(() => finish.length === 1);
	const others = [next(), next(), next()];
	finish[0]!();
	await eventually(() => finish.length === 2);
	finish[1]!();
	expect([await first, ...(await Promise.all(others))]).toEqual([1, 2, 2, 2]);
});

test('a failed scan is reported, and the last values are kept', async () => {
	const {liveView, world} = await livePicture();
	world.see(() => observationOf([], {failure: {message: 'nvidia-smi hangs'}}));
	const unwatch = liveView.watch();
	await eventually(() => liveView.current().blind !== undefined);
	expect(liveView.current()).toMatchObject({
		blind: {reason: 'nvidia-smi hangs'},
		rows: [{state: 'available'}, {state: 'available'}],
	});
	world.see(() => observationOf([0, 1].map((index) => idleReading(index))));
	await eventually(() => liveView.current().blind === undefined);
	unwatch();
});

test('a client that does not read its stream is dropped without delaying other clients', async () => {
	const {liveView} = await livePicture();
	const [row] = liveView.current().rows;
	let changed: Parameters<LiveView['subscribe']>[0] = () => undefined;
	const busy: LiveView = {
		...liveView,
		subscribe(listener) {
			changed = listener;
			return () => undefined;
		},
	};
	let subscriptions = 0;
	const hosts = {
		known: () => [],
		subscribe() {
			subscriptions++;
			return () => undefined;
		},
	};
	const streams = createStreams(
		{liveView: busy, hosts, about, commands: 'full', monotonicMs: () => performance.now()},
		{mostStreams: 2, mostUnreadBytes: 100_000},
	);
	onTestFinished(streams.close);
	const outgoing: ServerResponse[] = [];
	const opened: boolean[] = [];
	const server = createServer((_, response) => {
		outgoing.push(response);
		opened.push(streams.open(response, {withHosts: false}));
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const {port} = server.address() as AddressInfo;
	const open = async (isReading: boolean) => {
		const sent = request({port, agent: false}).end();
		sent.on('error', () => undefined);
		if (isReading) {
			const [answer] = (await once(sent, 'response')) as [NodeJS.ReadableStream];
			answer.resume();
		}

		return sent;
	};

	await open(true);
	const slow = await open(false);
	await eventually(() => streams.count() === 2);
	await open(false);
	await eventually(() => opened.length === 3);
	expect(opened).toEqual([true, true, false]);
	slow.socket!.pause();
	// Sends changes until all buffers on the way are full.
	for (let round = 0; round < 100 && streams.count() === 2; round++) {
		const rows = Array.from({length: 200}, (_, index) => ({
			...row!,
			index,
			problem: `${round} ${'long '.repeat(800)}`,
		}));
		changed({...liveView.current(), rows}, 'snapshot');
		await nextTurn();
	}

	await eventually(() => streams.count() === 1);
	expect([outgoing[0]!.destroyed, outgoing[1]!.destroyed]).toEqual([false, true]);
	// A client that left before its stream was opened.
	expect(streams.open(outgoing[1]!, {withHosts: true})).toBe(true);
	expect([streams.count(), subscriptions]).toEqual([1, 0]);
});

/** @returns A function that connects to these streams. */
async function serve(streams: ReturnType<typeof createStreams>) {
	const server = createServer((_, response) => {
		streams.open(response, {withHosts: true});
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	onTestFinished(() => {
		streams.close();
		server.closeAllConnections();
		server.close();
	});
	return () => {
		const {messages, close} = listenTo((server.address() as AddressInfo).port);
		onTestFinished(close);
		return {messages};
	};
}

test('a client that connects after a long quiet time receives the current time', async () => {
	const world = await createLiveWorld(2);
	let laterMs = 0;
	const monotonicMs = () => world.clock.monotonicMs() + laterMs;
	const liveView = startLiveView({...world, clock: {...world.clock, monotonicMs}}, liveViewOptions(fail));
	onTestFinished(liveView.stop);
	await eventually(() => liveView.current().rows.length === 2);
	const hosts = {known: () => [], subscribe: () => () => undefined};
	const listen = await serve(createStreams({liveView, hosts, about, commands: 'full', monotonicMs}));
	const toldMs = async (): Promise<number> => {
		const {messages} = listen();
		await eventually(() => messages.length > 0);
		return Number(messages[0]!.data['now_ms']);
	};

	const first = await toldMs();
	laterMs = 3_600_000;
	expect((await toldMs()) - first).toBeGreaterThanOrEqual(laterMs);
});

test('each message on a stream, except a heartbeat, has a unique id', async () => {
	const {liveView, world} = await livePicture();
	let answered: Parameters<RemoteHosts['subscribe']>[0] = () => undefined;
	const hosts: Pick<RemoteHosts, 'known' | 'subscribe'> = {
		known: () => [],
		subscribe(listener) {
			answered = listener;
			return () => undefined;
		},
	};
	const streams = createStreams(
		{liveView, hosts, about, commands: 'full', monotonicMs: world.clock.monotonicMs},
		{heartbeatMs: 10},
	);
	const {messages} = (await serve(streams))();
	const heard = async (event: string, count: number) =>
		eventually(() => messages.filter((message) => message.event === event).length >= count);
	await heard('hosts', 1);
	await reserve(world, {requester: person('alice'), count: 1, durationSeconds: 60});
	await heard('change', 1);
	answered({name: 'other', answer: {status: []}, answeredMs: 0});
	await heard('hosts', 2);
	await heard('beat', 2);
	expect(messages.filter(({event, id}) => (event === 'beat') !== (id === undefined))).toEqual([]);
	const ids = messages.flatMap(({id}) => id ?? []);
	expect(ids.length).toBeGreaterThanOrEqual(4);
	expect([...new Set(ids)].toSorted((a, b) => a - b)).toEqual(ids);
});

test('a stream sends each event once, even if the store comes back without the newest events', async () => {
	const {liveView} = await livePicture();
	const state = (...ids: readonly number[]) => ({
		...liveView.current(),
		events: ids.map((id): AuditEntry => ({id: String(id), time: id, kind: 'granted', account: 'alice', gpus: [0]})),
	});
	const encoder = createEncoder(state(1, 2, 3), about, 'full');
	const sent = (...ids: readonly number[]) => {
		const {events} = JSON.parse(encoder.change(state(...ids)) ?? '{}') as {
			readonly events?: ReadonlyArray<{readonly id: string}>;
		};
		return events?.map(({id}) => Number(id));
	};

	expect(sent(2, 3, 4)).toEqual([4]);
	expect(sent(1, 2, 3)).toBeUndefined();
	expect(sent(2, 3, 5)).toEqual([5]);
	expect(sent(6, 7)).toEqual([6, 7]);
});

test('simultaneous requests for the same report share one report', async () => {
	let made = 0;
	let nowMs = 0;
	const reports = createReports(
		async ({days}: ReportQuestion) => {
			made++;
			if (days === 2) {
				throw new CanhazgpuError('usage', 'no');
			}

			return {days};
		},
		() => nowMs,
	);
	const answers = await Promise.all(Array.from({length: 20}, async () => reports({days: 7, by: 'user'})));
	expect([made, answers[19]]).toEqual([1, {days: 7}]);
	nowMs = 5000;
	await reports({days: 7, by: 'user'});
	expect(made).toBe(2);
	await expect(reports({days: 2, by: 'user'})).rejects.toThrow('no');
	await expect(reports({days: 2, by: 'user'})).rejects.toThrow('no');
	expect(made).toBe(4);
});

test('after a new event, requests for the report that is being read share the one read that follows', async () => {
	let event = 0;
	const finish: Array<() => void> = [];
	const reports = createReports(
		async (_question: ReportQuestion) => {
			const own = finish.length + 1;
			await new Promise<void>((resolve) => {
				finish.push(resolve);
			});
			return own;
		},
		() => 0,
		() => String(event),
	);
	const ask = async () => reports({days: 7, by: 'user'});
	const first = ask();
	await eventually(() => finish.length === 1);
	const others = [ask()];
	for (event = 1; event < 50; event++) {
		others.push(ask());
	}

	finish[0]!();
	await eventually(() => finish.length === 2);
	finish[1]!();
	expect([await first, ...new Set(await Promise.all(others))]).toEqual([1, 1, 2]);
	expect([await ask(), finish.length]).toEqual([2, 2]);
});

test('different reports are made one at a time, and their number is limited', async () => {
	let making = 0;
	let mostMaking = 0;
	const reports = createReports(
		async ({days}: ReportQuestion) => {
			making++;
			mostMaking = Math.max(mostMaking, making);
			await nextTurn();
			making--;
			if (days === 5) {
				throw new CanhazgpuError('failed', 'no');
			}

			return {days};
		},
		() => 0,
	);
	const asked = await Promise.allSettled(Array.from({length: 20}, async (_, days) => reports({days, by: 'user'})));
	expect(mostMaking).toBe(1);
	expect(asked.map(({status}) => status === 'fulfilled')).toEqual(
		Array.from({length: 20}, (_, days) => days !== 5 && days < 16),
	);
	expect(asked[19]).toMatchObject({reason: {code: 'busy'}});
	expect(await reports({days: 19, by: 'user'})).toEqual({days: 19});
});

test('the utilization recorder returns ten-second means with gaps, for at most six hours', () => {
	const use = createUtilizationRecorder();
	const at = (now: number, utilizationPercent: number | undefined) => {
		use.add({now, lastScan: observationOf([{...idleReading(0), utilizationPercent, memoryUsedMiB: 40_779.5}])});
	};

	at(1001, 10);
	at(1005, 20);
	at(1032, undefined);
	expect(use.last(1)).toEqual({
		step_seconds: 10,
		end_ms: 1_030_000,
		gpus: {
			0: {
				utilization: [null, null, 15, null, null, null],
				memory: [null, null, 50, null, null, 50],
			},
		},
	});
	at(1000 + 7 * 3600, 99);
	const {utilization} = use.last(360, {gpu: 0}).gpus['0']!;
	expect([utilization.length, utilization.filter((value) => value !== null)]).toEqual([2160, [99]]);
});

test.each([
	['localhost', true],
	['LOCALHOST', true],
	['127.0.0.1', true],
	['127.1', true],
	['::1', true],
	['0.0.0.0', false],
	['::', false],
	['localhost.example.org', false],
	['localhost-2', false],
	['127.example.org', false],
	['1271.example.org', false],
])('isLoopback of %s is %s', (host, isAlone) => {
	expect(isLoopback(host)).toBe(isAlone);
});

test('the queue of the page says that an entry waits because its account is at its limit', async () => {
	const lease = {user: 'erin', type: 'manual', startTime: 0} as const;
	const snapshot = snapshotWith({
		gpus: [{kind: 'leased', index: 0, raw: '', lease}],
		queue: [entryRecord('one', {user: 'erin'})],
		policy: new Map([['limits.max-gpus', {value: '1', since: 0}]]),
	});
	const {liveView} = await livePicture();
	expect(waitersJson({...liveView.current(), snapshot, queue: queueRows(snapshot)})).toMatchObject([
		{id: 'one', reason: 'max-gpus', reason_words: 'erin holds 1 of at most 1 GPU', served_at: undefined},
	]);
});

test('jobs show the full command, only the program name or nothing, depending on web.commands', () => {
	const rows = jobRows(listOf(job(1, {command: ['/opt/bin/python', 'train.py'], directory: '/home/alice'})), {
		account: undefined,
		isAll: true,
	});
	expect(rows).toMatchObject([{account: 'alice', directory: undefined, log: undefined}]);
	expect((['full', 'short', 'none'] as const).map((commands) => jobWith(rows[0]!, commands).command)).toEqual([
		'/opt/bin/python train.py',
		'python',
		'',
	]);
});

test.each(['Command not found: "/opt/secret/train"', '"/opt/secret/train" is not executable'])(
	'a reason that quotes the command is shown only with web.commands: full: %s',
	(reason) => {
		const ended = {command: ['/opt/secret/train', '--lr', '1'], state: 'failed', reason, endTime: 0} as const;
		const rows = jobRows(listOf(job(1, ended)), {account: undefined, isAll: true});
		expect(jobsJson({rows, now: 0}, 'full')).toMatchObject([{reason, details: reason}]);
		for (const commands of ['short', 'none'] as const) {
			const [shown] = jobsJson({rows, now: 0}, commands);
			expect(shown).toMatchObject({
				reason: 'the command could not be started',
				details: 'the command could not be started',
			});
			expect(JSON.stringify(shown)).not.toContain('secret');
		}
	},
);

test('the event of a job that could not be started quotes its command only with web.commands: full', async () => {
	const {liveView} = await livePicture();
	const reason = 'Command not found: "/opt/secret/train"';
	const ended = {id: '1', time: 0, kind: 'finished', account: 'alice', gpus: [], jobId: '7', value: 'failed', reason};
	const state = {...liveView.current(), events: [ended as AuditEntry]};
	for (const commands of ['full', 'short', 'none'] as const) {
		const message = createEncoder(state, about, commands).whole(0);
		expect([commands, message.includes('secret')]).toEqual([commands, commands === 'full']);
		expect([commands, message.includes('the command could not be started')]).toEqual([commands, commands !== 'full']);
	}
});

test('another reason of a job is shown with every value of web.commands', () => {
	const reason = 'it was stopped before its command started';
	const rows = jobRows(listOf(job(1, {state: 'failed', reason, endTime: 0})), {account: undefined, isAll: true});
	expect(jobsJson({rows, now: 0}, 'none')).toMatchObject([{reason}]);
});

test('the processes that a job left behind lose their command lines as other processes do', async () => {
	const {liveView} = await livePicture();
	const left = {
		account: 'alice',
		leaseId: undefined,
		endedAt: 0,
		processes: [{pid: 7, name: 'python', commandLine: 'python secret.py'}],
	};
	const row = {...liveView.current().rows[0]!, left};
	expect(rowWith(row, 'full').left).toEqual(left);
	expect(rowWith(row, 'short').left?.processes).toEqual([{pid: 7, name: 'python'}]);
	expect(rowWith(row, 'none').left?.processes).toEqual([{pid: 7}]);
});

test('unreserved_users includes processes of unknown accounts', async () => {
	const {liveView} = await livePicture();
	const state = liveView.current();
	const row = {...state.rows[0]!, state: 'unreserved', unreservedUsers: ['bob'], processes: [{pid: 1}]} as const;
	expect(gpuJson(row, contextOf(state, 'full'))).toMatchObject({unreserved_users: ['bob', 'unknown']});
});

test('an idle time that reaches back before any date leaves out idle_since', async () => {
	const {liveView} = await livePicture();
	const state = liveView.current();
	const gpu = gpuJson({...state.rows[0]!, idleSeconds: 1e300}, contextOf(state, 'full'));
	expect(gpu).toMatchObject({gpu_id: 0, idle_since: undefined});
});

test('the model that a process serves is shown only with web.commands: full', async () => {
	const {liveView} = await livePicture();
	const row = {...liveView.current().rows[0]!, model: {provider: 'acme', model: 'acme/secret'}};
	const remote = fromCommandRow({gpu_id: 0, status: 'IN_USE', model: {model: 'acme/secret'}}, 0)!;
	for (const commands of ['full', 'short', 'none'] as const) {
		const shown = JSON.stringify([rowWith(row, commands), remoteWith(remote, commands)]);
		expect(shown.split('acme/secret').length - 1).toBe(commands === 'full' ? 2 : 0);
		// The page then offers no report by model.
		const state = createEncoder(liveView.current(), about, commands).whole(0);
		expect(state.includes('"hides_models":true')).toBe(commands !== 'full');
	}
});
