/** Checks that hostile text in any field of any record is harmless on a terminal and in the page. */
import {once} from 'node:events';
import {request, type IncomingMessage} from 'node:http';
import fc from 'fast-check';
import {expect, onTestFinished, test} from 'vitest';
import type {Store, StoreListener} from '../../source/core/model/ports.js';
import type {
	AuditEntry,
	Drain,
	GpuProcess,
	GpuReading,
	Lease,
	Observation,
	QueueEntry,
	Snapshot,
	UsageRecord,
} from '../../source/core/model/types.js';
import {reportBy, seriesBy} from '../../source/commands/report.js';
import {CanhazgpuError} from '../../source/errors.js';
import {webReportJson} from '../../source/format/tables/report.js';
import {createRemoteHosts} from '../../source/web/api/hosts.js';
import {createMetrics} from '../../source/web/api/metrics.js';
import {startLiveView} from '../../source/core/live/live-view.js';
import {jobRows} from '../../source/core/rules/jobs/rows.js';
import {jobJson} from '../../source/format/jobs.js';
import {job, listOf, now as jobTime} from '../core/rules/jobs/_jobs.js';
import {heldUseOf} from '../../source/core/operations/history/held-use.js';
import {occupancyOf} from '../../source/core/operations/history/occupancy.js';
import {heldUseJson} from '../../source/format/tables/held-use.js';
import {occupancyJson} from '../../source/web/api/occupancy-json.js';
import {createReports} from '../../source/web/api/reports.js';
import {createRoutes, type HoursQuestion} from '../../source/web/server/routes.js';
import {startServer} from '../../source/web/server/server.js';
import {createStreams} from '../../source/web/server/stream.js';
import {createUtilizationRecorder} from '../../source/web/api/utilization-json.js';
import {eventually} from '../_helpers/eventually.js';
import {createLiveWorld, liveViewOptions} from '../_helpers/live-world.js';
import {ask} from './_server.js';

/** Requires all fields of a type, so that the compiler finds fields that are added later. */
type Whole<Type> = {readonly [Key in keyof Required<Type>]: Type[Key]};

const acting = [
	'\u{1B}[2J',
	'\u{1B}]0;title\u{7}',
	'\u{9B}31m',
	'\u{9D}0;x\u{9C}',
	'\u{202E}',
	'\u{2066}',
	'\u{200B}',
	'\u{E0041}',
	'\u{2028}',
	'\r\n',
	'\n\ndata: {}\n\n',
	'\u{0}',
	'\u{D800}',
	'\u{FEFF}',
	'<img src=x onerror=alert(1)>',
	'"\\',
];

const hostile = fc
	.array(fc.oneof(fc.string({unit: 'binary', maxLength: 4}), fc.constantFrom(...acting)), {minLength: 1, maxLength: 4})
	.map((parts) => parts.join('seen'));

/** Returns everything that a store and a GPU tool can contain. `word` returns the text for a field. */
function hostileWorld(word: (field: string) => string, now: number, revision: Snapshot['revision']) {
	const lease = (type: Lease['type'], partialQueueId?: string): Whole<Lease> => ({
		user: word('label'),
		actualUser: word('owner'),
		type,
		startTime: now - 100,
		lastHeartbeat: now,
		expiryTime: type === 'manual' ? now + 1000 : undefined,
		remindedOf: undefined,
		idle: {since: now - 50, seen: now},
		parked: {since: now - 50, seen: now},
		keepUntil: now + 10,
		slack: {groups: [word('group')]},
		endsBy: now + 2000,
		isSuspended: true,
		note: word('note'),
		via: word('via'),
		model: word('model'),
		memoryMiB: undefined,
		mig: undefined,
		partialQueueId,
		leaseId: word('lease id'),
		children: [{pid: 12, startTicks: 1}],
		machine: word('machine'),
		bootId: word('boot id'),
		holder: {pid: 1},
		job: undefined,
		silence: {clock: word('clock'), seconds: 1, since: now},
		unknownFields: {[word('field')]: word('value')},
	});
	const entry: Whole<QueueEntry> = {
		id: word('entry id'),
		user: word('entry label'),
		actualUser: word('entry owner'),
		requestedCount: 2,
		requestedIds: [],
		need: {
			minMemoryMiB: 1,
			models: [word('wanted model')],
			minCompute: word('compute capability'),
			sameModel: false,
			nvlink: false,
			unknownFields: {[word('need field')]: word('need value')},
		},
		groups: [word('limited group')],
		eligible: undefined,
		eligibleInstances: [{gpu: 0, uuid: word('eligible instance')}],
		allocatedGpus: [],
		reservationType: 'manual',
		expirySeconds: 60,
		timeLimitSeconds: undefined,
		note: word('entry note'),
		via: word('entry via'),
		enqueueTime: now - 10,
		lastHeartbeat: now,
		waitTimeout: now + 100,
		force: undefined,
		unavailable: [{gpu: 0, kind: 'broken', detail: word('outage'), since: now - 5}],
		machine: word('machine'),
		bootId: word('boot id'),
		holder: undefined,
		silence: {clock: word('clock'), seconds: 1, since: now},
		verdict: undefined,
		unknownFields: undefined,
	};
	const drain: Whole<Drain> = {reason: word('drain reason'), by: word('drained by'), since: now - 5};
	const usage: Whole<UsageRecord> = {
		user: word('user of the past'),
		actualUser: word('owner of the past'),
		gpuId: 0,
		startTime: now - 500,
		endTime: now - 400,
		durationSeconds: 100,
		reservationType: 'run',
		leaseId: word('lease of the past'),
		note: word('note of the past'),
		model: word('model of the past'),
		memoryMiB: undefined,
		mig: {uuid: word('instance of the past'), profile: word('profile of the past')},
		endReason: 'exited',
	};
	const event: Whole<AuditEntry> = {
		id: '1-0',
		time: now - 20,
		kind: 'drained',
		account: word('event account'),
		label: word('event label'),
		owner: word('event owner'),
		host: word('event host'),
		gpus: [0],
		instances: [{gpu: 0, number: 1, uuid: word('event instance'), profile: word('event profile')}],
		count: 1,
		need: {
			mig: {profile: word('event need profile')},
			models: [word('event model')],
			minCompute: word('event compute capability'),
			unknownFields: {[word('event need field')]: word('event need value')},
		},
		provider: word('event provider'),
		memoryMiB: 8192,
		usedMiB: 16_384,
		key: word('event key'),
		value: word('event value'),
		before: {
			count: 1,
			provider: word('provider before'),
			location: word('location before'),
			reason: word('reason before'),
			value: word('value before'),
		},
		leaseId: word('event lease'),
		entryId: word('event entry'),
		jobId: word('event job'),
		forced: true,
		until: now + 5,
		reason: word('event reason'),
		note: word('event note'),
		via: word('event via'),
	};
	const process: Whole<GpuProcess> = {
		pid: 4711,
		user: word('process user'),
		name: word('process name'),
		commandLine: word('command line'),
		memoryUsedMiB: 5000,
		utilizationPercent: 3,
		kind: 'compute',
		gpuInstanceId: 1,
		computeInstanceId: 0,
		startTime: now - 50,
		startTicks: 5,
		parentPid: 1,
		cpuPercent: 1,
		hostMemoryMiB: 1,
		containerId: word('container'),
		ancestors: [word('ancestor')],
	};
	const reading = (index: number): GpuReading => ({
		index,
		uuid: word('uuid'),
		pciBusId: word('bus id'),
		name: word('gpu model'),
		memoryUsedMiB: 5000,
		memoryTotalMiB: 80_000,
		utilizationPercent: 50,
		throttleReasons: [word('throttled by')],
		isMigEnabled: true,
		migInstances: [{profile: word('profile'), uuid: word('uuid of a part')}],
		computeMode: word('compute mode'),
		computeCapability: word('capability'),
		processes: [process],
		health: [{kind: 'xid', words: word('health')}],
		failure: index === 3 ? word('failure') : undefined,
		unknown: {temperatureCelsius: word('why unknown')},
	});
	const snapshot: Snapshot = {
		now,
		revision,
		storeUptimeSeconds: 5,
		pool: {gpuCount: 7, provider: 'fake'},
		gpus: [
			{kind: 'leased', index: 0, raw: '', lease: lease('manual')},
			{kind: 'leased', index: 1, raw: '', lease: lease('run', entry.id)},
			{kind: 'garbage', index: 2, raw: word('raw'), problem: word('problem')},
			{kind: 'free', index: 3, raw: undefined},
			{kind: 'free', index: 4, raw: undefined},
			{
				kind: 'shared',
				index: 5,
				raw: '',
				shares: [
					{...lease('manual'), memoryMiB: 8000},
					{...lease('run'), memoryMiB: 9000},
				],
				capacityMiB: 80_000,
			},
			{
				kind: 'shared',
				index: 6,
				raw: '',
				shares: [{...lease('run'), mig: {uuid: word('held instance'), profile: word('held profile')}}],
			},
		],
		queue: [
			{kind: 'entry', id: entry.id, raw: '', entry},
			{kind: 'garbage', id: word('garbage id'), raw: undefined, problem: word('entry problem')},
		],
		drains: new Map([[4, drain]]),
		drainProblem: word('drain problem'),
		policy: new Map([['strategy', {value: word('policy value'), by: word('policy by'), since: now}]]),
		baselines: new Map(),
		overuse: [],
		alerts: [],
		stored: {machine: undefined, drains: undefined, alerts: undefined, policy: undefined},
		lastUsed: new Map(),
	};
	const observation: Observation = {
		provider: 'fake',
		takenAtMs: 0,
		simulated: false,
		driverVersion: word('driver'),
		gpus: Array.from({length: 7}, (_, index) => reading(index)),
		warnings: [word('warning')],
	};
	return {snapshot, observation, events: [event], usage: [usage]};
}

/** Serves a dashboard of that world. */
async function serve(word: (field: string) => string) {
	const live = await createLiveWorld(7);
	const {snapshot, observation, events, usage} = hostileWorld(
		word,
		Math.floor(Date.now() / 1000),
		(await live.store.read()).revision,
	);
	let failure: CanhazgpuError | undefined;
	const listeners = new Set<StoreListener>();
	const answer = <Value>(value: Value): Value => {
		if (failure !== undefined) {
			throw failure;
		}

		return value;
	};

	const store: Store = {
		...live.store,
		location: word('location'),
		read: async () => answer(snapshot),
		commit: async () => answer('done'),
		async subscribe(listener) {
			listeners.add(listener);
			return async () => undefined;
		},
		audit: async () => answer(events),
		history: () =>
			Object.assign(
				(async function* () {
					yield* answer(usage);
				})(),
				{
					async *pages() {
						yield answer(usage);
					},
				},
			),
	};
	let seen = observation;
	const world = {
		...live,
		store,
		gpus: {...live.gpus, observe: async () => ({...seen, takenAtMs: live.clock.monotonicMs()})},
	};
	const broken: unknown[] = [];
	const noteBug = (error: unknown): void => {
		broken.push(error);
	};

	const liveView = startLiveView(world, liveViewOptions(noteBug));
	const hosts = createRemoteHosts({
		names: ['good', 'bad'],
		async ask(name) {
			if (name === 'bad') {
				throw new CanhazgpuError('failed', word('error of a host'));
			}

			const row = Object.fromEntries(
				['user', 'note', 'type', 'details', 'validation', 'process_info', 'error', 'lease_id', 'uuid', 'gpu_model'].map(
					(key) => [key, word(`remote ${key}`)],
				),
			);
			return [{...row, gpu_id: 0, status: word('remote status'), health: [word('remote health')]}];
		},
		clock: world.clock,
		roundMs: 1000,
		broken: noteBug,
	});
	const streams = createStreams({
		liveView,
		hosts,
		about: () => ({
			host: word('host'),
			version: word('version'),
			location: store.location,
			privateLabel: word('private label'),
			isDemo: false,
			hasPool: true,
			hosts: [word('host'), ...hosts.names],
		}),
		commands: 'full',
		monotonicMs: world.clock.monotonicMs,
	});
	const routes = createRoutes({
		names: new Set(['localhost']),
		hostname: 'box',
		liveView,
		streams,
		occupancy: createReports(
			async ({hours}: HoursQuestion) => occupancyJson(await occupancyOf(world, hours)),
			world.clock.monotonicMs,
		),
		heldUse: createReports(
			async ({hours}: HoursQuestion) => heldUseJson(await heldUseOf(world, hours, () => undefined)),
			world.clock.monotonicMs,
		),
		async jobs() {
			const record = job(1, {
				state: 'failed',
				account: word('job account'),
				command: [word('job command')],
				reason: word('job reason'),
			});
			return jobRows(listOf(record), {account: undefined, isAll: true}).map((row) => jobJson(row, jobTime));
		},
		reports: createReports(
			async ({days, by}) => webReportJson(await reportBy(world, {days, by, series: seriesBy(by)}), by),
			world.clock.monotonicMs,
		),
		hosts,
		commands: 'full',
		hasPool: () => true,
		metrics: createMetrics({
			liveView,
			userSeconds: () => new Map([[word('user'), {reserved: 1, idle: 1}]]),
			streams: streams.count,
			hasPool: () => true,
			version: word('version'),
		}),
		use: createUtilizationRecorder(),
		keptLoads: async () => [],
		broken: noteBug,
	});
	const server = await startServer({host: '127.0.0.1', port: 0}, Promise.resolve(routes));
	await eventually(() => liveView.current().rows.length === 7 && liveView.current().events.length > 0);
	return {
		port: server.port,
		broken,
		paths: [
			...new Set(
				routes.routes
					.filter(({method, path}) => method === 'GET' && /^\/(?:api|metrics|healthz)/v.test(path))
					.map(({path}) => path),
			),
		],
		fail(message: string) {
			failure = new CanhazgpuError('store-unreachable', message, {hint: message});
			seen = {...observation, gpus: [], failure: {message, hint: message}};
			for (const listener of listeners) {
				listener.lost?.(message);
			}
		},
		async close() {
			streams.close();
			hosts.stop();
			liveView.stop();
			await server.close();
		},
	};
}

/** Returns the first messages of the event stream, which are the state and the hosts. */
async function firstMessages(port: number): Promise<string> {
	const sent = request({
		host: '127.0.0.1',
		port,
		path: '/api/events?hosts',
		headers: {host: 'localhost'},
		agent: false,
	}).end();
	const [response] = (await once(sent, 'response')) as [IncomingMessage];
	let body = '';
	response.setEncoding('utf8').on('data', (data: string) => {
		body += data;
	});
	response.on('error', () => undefined);
	await eventually(
		() => /event: hosts\n.*"name":"good","age_ms"/v.test(body) || body.split('event: hosts\n').length > 2,
	);
	sent.destroy();
	return body;
}

/** Characters that must not reach a terminal. The joiner U+200D is allowed within emoji. */
const raw = /[[\p{Control}\p{Format}\p{Line_Separator}\p{Paragraph_Separator}\p{Surrogate}]--[\n\u{200D}]]/v;

const checkHarmless = (path: string, body: string): void => {
	expect([path, raw.exec(body)]).toEqual([path, null]);
};

/** Returns every string in a JSON value. */
function textsOf(value: unknown): readonly string[] {
	if (typeof value === 'string') {
		return [value];
	}

	return typeof value === 'object' && value !== null
		? Object.entries(value).flatMap(([key, inner]) => [key, ...textsOf(inner)])
		: [];
}

const checkJson = (path: string, json: string): void => {
	expect([path, json.includes('\n')]).toEqual([path, false]);
	checkHarmless(path, json);
	for (const text of textsOf(JSON.parse(json))) {
		checkHarmless(path, text);
		expect(text).not.toContain('\n');
	}
};

const dataOf = (stream: string): readonly string[] =>
	stream
		.split('\n')
		.filter((line) => line.startsWith('data: '))
		.map((line) => line.slice(6));

async function checkEverything({
	port,
	paths,
}: Pick<Awaited<ReturnType<typeof serve>>, 'port' | 'paths'>): Promise<string> {
	let all = '';
	for (const path of paths.filter((each) => each !== '/api/events')) {
		const variants =
			path === '/api/report' ? ['user', 'gpu', 'day', 'model', '%E2%80%AEx'].map((by) => `${path}?by=${by}`) : [path];
		for (const asked of variants) {
			const {body, headers} = await ask(port, asked, {headers: {host: 'localhost'}});
			checkHarmless(asked, body);
			if (headers['content-type']?.includes('json') === true) {
				checkJson(asked, body);
			}

			all += body;
		}
	}

	const stream = await firstMessages(port);
	checkHarmless('/api/events', stream);
	const data = dataOf(stream);
	expect(data.length).toBeGreaterThan(1);
	for (const line of data) {
		checkJson('/api/events', line);
	}

	return all + stream;
}

test('hostile text in any field of any record is harmless in every answer of the server', async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(hostile, {minLength: 3, maxLength: 8}), async (texts) => {
			let index = 0;
			const served = await serve(() => texts[index++ % texts.length]!);
			try {
				expect(served.paths).toContain('/api/status');
				expect(served.paths.length).toBeGreaterThan(7);
				await checkEverything(served);
				served.fail(texts.join(''));
				expect(await checkEverything(served)).toContain('"store":{"live":false,"reason":');
				expect(served.broken).toEqual([]);
			} finally {
				await served.close();
			}
		}),
		{numRuns: 5, examples: [[acting]]},
	);
});

test('every hostile field arrives sanitized in an answer of the server', async () => {
	const served = await serve((field) => `\u{202E}the ${field}\u{9B}31m`);
	onTestFinished(served.close);
	const all = await checkEverything(served);
	for (const field of [
		'label',
		'owner',
		'note',
		'lease id',
		'entry id',
		'entry label',
		'entry owner',
		'entry note',
		'drain reason',
		'drained by',
		'user of the past',
		'model of the past',
		'event account',
		'event reason',
		'event note',
		'process user',
		'process name',
		'command line',
		'container',
		'uuid',
		'gpu model',
		'throttled by',
		'driver',
		'warning',
		'problem',
		'location',
		'private label',
		'error of a host',
		'remote user',
		'remote note',
		'remote lease_id',
	]) {
		expect(all).toContain(`the ${field}`);
	}
});
