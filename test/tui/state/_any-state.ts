/** Random boxes, people and events, with hostile texts. */
import fc from 'fast-check';
import type {Past} from '../../../source/core/operations/history/past.js';
import {jobStates} from '../../../source/core/model/jobs.js';
import type {JobRow} from '../../../source/core/rules/jobs/rows.js';
import type {Report} from '../../../source/core/rules/pool/report.js';
import type {
	AuditEntry,
	GpuReading,
	Lease,
	Observation,
	QueueRecord,
	Snapshot,
} from '../../../source/core/model/types.js';
import {fromCommandRows} from '../../../source/format/hosts/remote-gpu.js';
import {sanitize} from '../../../source/format/text/text.js';
import type {Action} from '../../../source/tui/state/actions.js';
import {commandPrompt, outputOf} from '../../../source/tui/state/command-line/state.js';
import {initialState, type Settings, type State} from '../../../source/tui/state/state.js';
import type {SeenHost} from '../../../source/tui/ports.js';
import {cancelJob, retryJob} from '../../../source/tui/commands/jobs.js';
import {extend} from '../../../source/tui/commands/reservations/extend.js';
import {leave} from '../../../source/tui/commands/leave.js';
import {release} from '../../../source/tui/commands/reservations/release.js';
import {reserve, reserveThese, wait} from '../../../source/tui/commands/reserve/reserve.js';
import {chooseProcess, chooseSignal, signalChoice} from '../../../source/tui/commands/processes/signal-choice.js';
import {extendOverHosts} from '../../../source/tui/commands/hosts/extend.js';
import {releaseOverHosts} from '../../../source/tui/commands/hosts/release.js';
import {reserveOverHosts, reserveThisOverHosts} from '../../../source/tui/commands/hosts/reserve.js';
import {snapshotWith} from '../../_helpers/world.js';
import {after, pressing, type Step} from '../_harness.js';
import {alice, sceneTime, utcTime} from '../_world.js';

const hostile = fc.oneof(
	fc.string({unit: 'binary', maxLength: 80}),
	fc.string({unit: 'grapheme', maxLength: 40}),
	fc.constantFrom(
		'\u{1B}[31mred\u{1B}[0m',
		'a\nb\r\tc',
		'\u{202E}evil',
		'訓練訓練訓練訓練訓練訓練訓練',
		'👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦',
		'🇩🇪🇩🇪🇩🇪',
		'Z̸̧̛͍a̷l̷g̷o̷',
		'\u{9B}2J\u{7}',
		'x'.repeat(500),
	),
);

const maybe = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
	fc.option(arbitrary, {nil: undefined});

const lease: fc.Arbitrary<Lease> = fc.record({
	user: hostile,
	actualUser: fc.oneof(fc.constant('alice'), hostile),
	type: fc.constantFrom('run', 'manual'),
	startTime: fc.integer({min: sceneTime - 1e7, max: sceneTime + 10}),
	lastHeartbeat: maybe(fc.constant(sceneTime)),
	expiryTime: maybe(fc.integer({min: sceneTime, max: sceneTime + 1e9})),
	note: maybe(hostile),
	partialQueueId: maybe(fc.constant('entry')),
	leaseId: maybe(fc.string()),
});

const reading = (index: number): fc.Arbitrary<GpuReading> =>
	fc.record({
		index: fc.constant(index),
		uuid: maybe(hostile),
		name: maybe(hostile),
		memoryUsedMiB: maybe(fc.nat(1e6)),
		memoryTotalMiB: maybe(fc.nat(1e6)),
		utilizationPercent: maybe(fc.nat(100)),
		temperatureCelsius: maybe(fc.nat(120)),
		powerWatts: maybe(fc.nat(2000)),
		powerLimitWatts: maybe(fc.nat(2000)),
		processes: maybe(
			fc.array(
				fc.record({
					pid: fc.oneof(fc.nat(20), fc.nat(4_000_000)),
					user: maybe(hostile),
					name: maybe(hostile),
					commandLine: maybe(hostile),
					memoryUsedMiB: maybe(fc.nat(100_000)),
					parentPid: maybe(fc.nat(20)),
					cpuPercent: maybe(fc.nat(9999)),
					utilizationPercent: maybe(fc.nat(100)),
					startTime: maybe(fc.nat(sceneTime)),
					containerId: maybe(hostile),
				}),
				{maxLength: 8},
			),
		),
		throttleReasons: maybe(fc.array(hostile, {maxLength: 2})),
		isMigEnabled: maybe(fc.boolean()),
		migInstances: maybe(fc.array(fc.record({profile: maybe(hostile), uuid: maybe(hostile)}), {maxLength: 7})),
		failure: maybe(hostile),
		unknown: fc.constant({}),
	});

const queued: fc.Arbitrary<QueueRecord> = fc.oneof(
	fc.record({
		kind: fc.constant('entry'),
		id: fc.constant('entry'),
		raw: fc.constant(''),
		entry: fc.record({
			id: fc.constant('entry'),
			user: hostile,
			requestedCount: fc.nat(99),
			requestedIds: fc.array(fc.nat(9999), {maxLength: 20}),
			allocatedGpus: fc.constant([]),
			reservationType: fc.constantFrom('run', 'manual'),
			enqueueTime: fc.integer({min: sceneTime - 1e7, max: sceneTime + 10}),
			lastHeartbeat: fc.constant(sceneTime),
		}),
	}),
	fc.record({kind: fc.constant('orphan'), id: hostile}),
	fc.record({kind: fc.constant('garbage'), id: hostile, raw: hostile, problem: hostile}),
);

const box = fc.integer({min: 0, max: 80}).chain((gpuCount) =>
	fc.record({
		gpus: fc.tuple(
			...Array.from({length: gpuCount}, (_, index) =>
				fc.oneof(
					fc.constant({kind: 'free', index, raw: undefined} as const),
					lease.map((held) => ({kind: 'leased', index, raw: '', lease: held}) as const),
					hostile.map((problem) => ({kind: 'garbage', index, raw: '', problem}) as const),
				),
			),
		),
		readings: fc.tuple(...Array.from({length: gpuCount}, (_, index) => reading(index))),
		queue: fc.array(queued, {maxLength: 12}),
	}),
);

const hostNames = ['far', 'alice@far.example.org', 'other'];

/** Any answer of another host: a status or something else. */
const remoteRow = fc.record({
	gpu_id: fc.oneof(fc.nat(80), fc.anything()),
	status: fc.oneof(fc.constantFrom('AVAILABLE', 'IN_USE', 'UNRESERVED', 'ERROR'), fc.anything()),
	user: fc.oneof(fc.constant('alice'), hostile, fc.anything()),
	type: maybe(fc.constantFrom('RUN', 'MANUAL')),
	note: maybe(hostile),
	error: maybe(hostile),
	gpu_model: maybe(hostile),
	lease_id: maybe(fc.constantFrom('one', 'other')),
	uuid: maybe(hostile),
	unreserved_users: maybe(fc.array(hostile, {maxLength: 3})),
	process_info: maybe(hostile),
	utilization: fc.oneof(fc.nat(200), fc.anything()),
	memory_used_mb: maybe(fc.nat(1e6)),
	memory_total_mb: maybe(fc.nat(1e6)),
	remaining_seconds: fc.oneof(fc.nat(1e6), fc.anything()),
	drained: maybe(fc.record({by: hostile, reason: hostile})),
	processes: maybe(
		fc.array(fc.record({pid: fc.nat(9), name: maybe(hostile), command: maybe(hostile)}), {maxLength: 3}),
	),
});

const seenHost = (name: string): fc.Arbitrary<SeenHost> => {
	const status = fc
		.record({rows: fc.array(remoteRow, {maxLength: 9}), account: maybe(hostile), remark: maybe(hostile)})
		.map(({rows, ...more}) => ({gpus: fromCommandRows(rows, sceneTime) ?? [], ...more}));
	return fc.oneof(
		status.map((event) => ({name, answer: {status: event}, answeredMs: 500})),
		fc.record({error: hostile, before: maybe(status)}).map(({error, before}) => ({
			name,
			answer: {error},
			answeredMs: 500,
			before: before && {answer: {status: before}, answeredMs: 100},
		})),
	);
};

const settings: fc.Arbitrary<Settings> = fc.record({
	requester: fc.constant(alice),
	hostname: hostile,
	poolLabel: maybe(hostile),
	storeLocation: hostile,
	isReadonly: fc.boolean(),
	isAscii: fc.boolean(),
	hasColor: fc.boolean(),
	hasGradients: fc.boolean(),
	isLight: fc.boolean(),
	isLinear: fc.constant(false),
	memoryThresholdMiB: fc.constant(1024),
	scanIntervalMs: fc.constant(2000),
	otherHosts: maybe(fc.constant(hostNames)),
	hasNoPool: maybe(fc.boolean()),
	formatTime: fc.constant(utcTime),
});

const event: fc.Arbitrary<AuditEntry> = fc.record({
	id: fc.string(),
	time: fc.integer({min: sceneTime - 1e7, max: sceneTime}),
	kind: fc.constantFrom('granted', 'refused', 'joined', 'drained', 'squatter', 'health', 'notice'),
	account: maybe(hostile),
	label: maybe(hostile),
	host: maybe(hostile),
	gpus: fc.array(fc.nat(999), {maxLength: 5}),
	count: maybe(fc.nat(9)),
	reason: maybe(hostile),
	note: maybe(hostile),
});

const reportOf = (users: readonly string[]): Report => ({
	rows: users.map((key, index) => ({key, gpuHours: index * 1e4, percentage: index, runCount: index, manualCount: 0})),
	totalGpuHours: 1e6,
	totalReservations: 7,
	uniqueUsers: users.length,
	window: {from: 0, to: sceneTime},
});

const signalling = signalChoice([
	{gpu: 0, process: {pid: 7, user: 'alice', name: 'python3', memoryUsedMiB: 5}},
	{gpu: 0, process: {pid: 8}},
]);

const seenJob: fc.Arbitrary<JobRow> = fc.record({
	id: fc.nat(1200).map(String),
	state: fc.constantFrom(...jobStates),
	account: fc.oneof(fc.constant(alice.account), hostile),
	command: hostile,
	count: maybe(fc.nat(64)),
	gpus: maybe(fc.array(fc.nat(64), {maxLength: 8})),
	after: fc.constant([]),
	submitTime: fc.constant(sceneTime - 100),
	exitCode: maybe(fc.nat(255)),
	reason: maybe(hostile),
});

const action: fc.Arbitrary<Step> = fc.oneof(
	fc.constantFrom<Step>(
		{kind: 'line-down'},
		{kind: 'page-down'},
		{kind: 'last-line'},
		{kind: 'sort-next'},
		{kind: 'sort-previous'},
		{kind: 'invert-sort'},
		{kind: 'toggle-tag'},
		{kind: 'open-filter'},
		{kind: 'keep-filter'},
		{kind: 'drop-filter'},
		{kind: 'filter-user'},
		{kind: 'filter-mine'},
		{kind: 'focus-next-panel'},
		{kind: 'focus-report'},
		{kind: 'focus-events'},
		{kind: 'focus-queue'},
		{kind: 'focus-processes'},
		{kind: 'open-process'},
		{kind: 'open-search'},
		{kind: 'keep-search'},
		{kind: 'search-previous'},
		{kind: 'next-preset'},
		{kind: 'toggle-fold'},
		{kind: 'open-columns'},
		{kind: 'next-column'},
		{kind: 'toggle-column'},
		{kind: 'move-column-right'},
		{kind: 'open-options'},
		{kind: 'open-themes'},
		{kind: 'next-option'},
		{kind: 'next-choice'},
		{kind: 'next-process'},
		{kind: 'second-sort-next'},
		{kind: 'invert-second-sort'},
		{kind: 'clear-marks'},
		{kind: 'report-next'},
		{kind: 'zoom'},
		{kind: 'line-down'},
		{kind: 'page-down'},
		{kind: 'last-line'},
		{kind: 'toggle-tree'},
		{kind: 'look-back'},
		{kind: 'look-forward'},
		{kind: 'open-help'},
		pressing(reserve),
		pressing(release),
		pressing(extend),
		{kind: 'focus-next-field'},
		{kind: 'focus-previous-field'},
		{kind: 'increase'},
		{kind: 'delete-before'},
		{kind: 'caret-left'},
		{kind: 'close-dialog'},
		{kind: 'submitted'},
		pressing({...reserve, ...reserveThese}),
		pressing(wait),
		pressing(leave),
		{kind: 'opened', dialog: signalling},
		{kind: 'opened', dialog: chooseProcess(1)(signalling)},
		{kind: 'opened', dialog: chooseSignal(-1)(signalling)},
		{kind: 'toggle-pause'},
		{kind: 'opened', dialog: commandPrompt(['status', 'reserve -g 2'])},
		{kind: 'history-before'},
		{kind: 'output-last'},
		{kind: 'output-right'},
		{kind: 'ticked', nowMs: 90_000},
	),
	fc.constantFrom<Step>(
		{kind: 'focus-hosts'},
		{kind: 'line-down'},
		{kind: 'page-down'},
		{kind: 'last-line'},
		{kind: 'sort-next'},
		{kind: 'sort-previous'},
		{kind: 'invert-sort'},
		{kind: 'open-filter'},
		{kind: 'drop-filter'},
		{kind: 'filter-user'},
		{kind: 'filter-mine'},
		...[reserveOverHosts, reserveThisOverHosts, releaseOverHosts, extendOverHosts].map((command) => pressing(command)),
	),
	fc
		.subarray(hostNames)
		.chain((names) => fc.tuple(...names.map((name) => seenHost(name))))
		.map((known): Action => ({kind: 'hosts-arrived', known, nowMs: 0})),
	fc.constantFrom<Step>({kind: 'focus-jobs'}, pressing(cancelJob), pressing(retryJob)),
	fc.array(seenJob, {maxLength: 30}).map((rows): Action => ({kind: 'jobs-arrived', jobs: {rows}})),
	hostile.map((problem): Action => ({kind: 'jobs-arrived', jobs: {rows: [], problem: sanitize(problem)}})),
	hostile.map((text): Action => ({kind: 'opened', dialog: outputOf(text, [text, 'x'])})),
	hostile.map((words): Action => ({kind: 'wait-went-on', id: 1, words: sanitize(words)})),
	hostile.map((reason): Action => ({kind: 'store-lost', reason, nowMs: 2000, sinceMs: 2000})),
	fc.array(event, {maxLength: 30}).map((entries): Action => ({kind: 'events-arrived', entries})),
	hostile.map((reason): Action => ({kind: 'events-lost', reason})),
	fc.array(hostile, {maxLength: 20}).map((users): Action => ({
		kind: 'report-arrived',
		report: {kind: 'made', by: 'user', days: 30, report: reportOf(users)},
	})),
	hostile.map((reason): Action => ({kind: 'report-arrived', report: {kind: 'failed', by: 'gpu', days: 7, reason}})),
	fc
		.array(fc.tuple(hostile, fc.nat(40_000), fc.nat(40_000)), {maxLength: 6})
		.map((holders): Action => ({kind: 'past-arrived', past: {kind: 'read', past: pastOf(holders)}})),
	hostile.map((reason): Action => ({kind: 'past-arrived', past: {kind: 'failed', reason: sanitize(reason)}})),
	hostile.map((message): Action => ({
		kind: 'scan-arrived',
		nowMs: 3000,
		observation: {...emptyScan, failure: {message, hint: message}},
	})),
	// Typed text has no control characters, because the keyboard layer removes them.
	fc.string({unit: 'grapheme', maxLength: 60}).map((text): Action => ({kind: 'typed', text})),
);

const pastOf = (holders: ReadonlyArray<readonly [user: string, secondsAgo: number, seconds: number]>): Past => ({
	from: sceneTime - 86_400,
	to: sceneTime,
	minutes: [],
	usage: holders.map(([user, secondsAgo, seconds]) => ({
		user,
		gpuId: 0,
		startTime: sceneTime - secondsAgo,
		endTime: sceneTime - secondsAgo + seconds,
		durationSeconds: seconds,
		reservationType: 'run',
	})),
});

const emptyScan: Observation = {provider: 'nvidia', takenAtMs: 0, simulated: true, gpus: [], warnings: []};

/** The monitor with any box, at any size, after any actions. */
export const anyState: fc.Arbitrary<State> = fc
	.record({
		box,
		settings,
		size: fc.record({columns: fc.integer({min: 1, max: 220}), rows: fc.integer({min: 1, max: 60})}),
		actions: fc.array(action, {maxLength: 12}),
	})
	.map(({box: {gpus, readings, queue}, settings: someSettings, size, actions}) => {
		const snapshot: Snapshot = snapshotWith({
			now: sceneTime,
			pool: {gpuCount: gpus.length, provider: 'nvidia'},
			gpus,
			queue,
		});
		return after(
			initialState(someSettings, size, 0),
			{kind: 'snapshot-arrived', snapshot, nowMs: 1000},
			{kind: 'scan-arrived', observation: {...emptyScan, gpus: readings}, nowMs: 1000},
			...actions,
		);
	});
