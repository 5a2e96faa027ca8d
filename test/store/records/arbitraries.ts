/** Random records whose values can be stored exactly. */
import fc from 'fast-check';
import {auditKinds} from '../../../source/core/model/audit.js';
import {jobStates, type Job} from '../../../source/core/model/jobs.js';
import {
	type AuditRecord,
	type Drain,
	type EndedLease,
	type EndReason,
	type HeldInstance,
	type Lease,
	type LeaseIdle,
	type MemoryBaseline,
	type Need,
	type NotedOutage,
	type Overuse,
	type PolicySetting,
	type Alert,
	type PoolEvent,
	type ProcessIdentity,
	type QueueEntry,
	type Silence,
	type UsageRecord,
	eventKinds,
	outageKinds,
} from '../../../source/core/model/types.js';

const text = fc.oneof(fc.string({unit: 'binary', minLength: 1}), fc.string({unit: 'grapheme', minLength: 1}));
const optionalText = fc.option(text, {nil: undefined});

const wholeTime = fc.integer({min: 0, max: 4_000_000_000});

/** The start of a grace period on the clock of a machine. */
const graceTimer = fc.record({clock: fc.string({minLength: 1, maxLength: 40}), seconds: fc.nat(4_000_000)});

/** A time that is rounded to microseconds. */
const time = fc
	.tuple(wholeTime, fc.oneof(fc.constant(0), fc.integer({min: 0, max: 999_999})))
	.map(([seconds, microseconds]) => seconds + microseconds / 1e6);

const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, {nil: undefined});

const process: fc.Arbitrary<ProcessIdentity> = fc.record(
	{
		pid: fc.integer({min: 1, max: 4_194_304}),
		startTicks: fc.nat(),
		namespace: text,
		timeNamespace: text,
		group: fc.nat(),
	},
	{requiredKeys: ['pid']},
);

const silence: fc.Arbitrary<Silence> = fc.record(
	{clock: text, seconds: fc.integer().map((ms) => ms / 1024), since: wholeTime, lastHeartbeat: wholeTime},
	{requiredKeys: ['clock', 'seconds', 'since']},
);

const type = fc.constantFrom('run', 'manual');

const parse = (json: string): Record<string, unknown> => JSON.parse(json) as Record<string, unknown>;

/** Fields that a later version could add. Their names differ from all known fields. */
const unknownFields = optional(
	fc
		.dictionary(
			text.map((name) => `x-${name}`),
			fc.jsonValue({noUnicodeString: false}),
			{minKeys: 1, maxKeys: 3},
		)
		// JSON has no -0.
		.map((fields) => parse(JSON.stringify(fields))),
);

const memoryMiB = fc.integer({min: 1, max: 200_000});

const instance: fc.Arbitrary<HeldInstance> = fc.record({
	uuid: text,
	number: optional(fc.nat(15)),
	profile: optionalText,
	gpuInstanceId: optional(fc.nat(15)),
	computeInstanceId: optional(fc.nat(15)),
});

export const anyLease: fc.Arbitrary<Lease> = fc.record({
	user: text,
	actualUser: optionalText,
	type,
	startTime: wholeTime,
	lastHeartbeat: optional(wholeTime),
	expiryTime: optional(wholeTime),
	endsBy: optional(wholeTime),
	remindedOf: optional(wholeTime),
	idle: optional(
		fc
			.record(
				{
					since: wholeTime,
					seen: wholeTime,
					warned: wholeTime,
					deadline: wholeTime,
					remindedOf: wholeTime,
					timer: graceTimer,
				},
				{requiredKeys: ['since', 'seen']},
			)
			// A warning has both times or none.
			.map(({warned, deadline, ...idle}): LeaseIdle =>
				warned === undefined || deadline === undefined ? idle : {...idle, warned, deadline},
			),
	),
	parked: optional(
		fc.record({since: wholeTime, seen: wholeTime, toldOf: wholeTime}, {requiredKeys: ['since', 'seen']}),
	),
	keepUntil: optional(wholeTime),
	slack: optional(
		fc.oneof(
			fc.record({groups: fc.array(text, {minLength: 1, maxLength: 3})}, {requiredKeys: []}),
			fc.record({warned: wholeTime, deadline: wholeTime, remindedOf: wholeTime, timer: graceTimer}),
		),
	),
	note: optionalText,
	via: optionalText,
	model: optionalText,
	partialQueueId: optionalText,
	leaseId: optionalText,
	machine: optionalText,
	bootId: optionalText,
	holder: optional(process),
	job: optional(process),
	children: optional(
		fc
			.uniqueArray(fc.record({pid: fc.nat(), startTicks: fc.nat()}), {
				selector: ({pid}) => pid,
				minLength: 1,
				maxLength: 3,
			})
			.map((children) => children.toSorted((a, b) => a.pid - b.pid)),
	),
	silence: optional(silence),
	unknownFields,
});

/** Records of a shared GPU. */
export const anyShares = fc.record(
	{
		shares: fc.oneof(
			fc.array(
				fc.tuple(anyLease, memoryMiB).map(([lease, asked]): Lease => ({...lease, memoryMiB: asked})),
				{minLength: 1, maxLength: 4},
			),
			fc.array(
				fc.tuple(anyLease, instance).map(([lease, mig]): Lease => ({...lease, mig})),
				{minLength: 1, maxLength: 4},
			),
		),
		capacityMiB: memoryMiB,
		shareEnded: fc.integer({min: 0, max: 4_000_000_000}),
		unknownFields: unknownFields.filter((fields) => fields !== undefined),
	},
	{requiredKeys: ['shares']},
);

/** Fractions of a second that are exact in nanoseconds, as they are up to 104 days. */
const nanosecondExact = fc.oneof(
	fc.integer({min: 1, max: 9_000_000_000}).map((milliseconds) => milliseconds / 1000),
	fc.integer({min: 1, max: 3_153_600_000}),
);

const anyNeed: fc.Arbitrary<Need> = fc.record({
	minMemoryMiB: optional(fc.nat()),
	mig: optional(
		fc.oneof(
			fc.record({profile: text}),
			fc.record({
				instances: fc.array(fc.record({gpu: fc.nat(1023), number: fc.nat(15)}), {minLength: 1, maxLength: 3}),
			}),
		),
	),
	models: optional(fc.array(text, {minLength: 1})),
	minCompute: optionalText,
	sameModel: optional(fc.boolean()),
	nvlink: optional(fc.boolean()),
	unknownFields,
});

const anyOutage = (mig: fc.Arbitrary<NotedOutage['mig']>): fc.Arbitrary<NotedOutage> =>
	fc.record({gpu: fc.nat(1023), mig, kind: fc.constantFrom(...outageKinds), detail: optionalText, since: time});

/** Alerts, in the order in which they are stored: those of whole GPUs first. */
const anyOutages = fc
	.tuple(
		fc.array(anyOutage(fc.constant(undefined)), {maxLength: 2}),
		fc.array(anyOutage(fc.record({uuid: text, number: optional(fc.nat(15))})), {maxLength: 2}),
	)
	.map((outages) => outages.flat())
	.filter((outages) => outages.length > 0);

export const anyEntry: fc.Arbitrary<QueueEntry> = fc.record({
	id: text,
	user: text,
	actualUser: optionalText,
	requestedCount: fc.nat(),
	requestedIds: fc.array(fc.nat()),
	need: optional(anyNeed),
	eligible: optional(fc.array(fc.array(fc.nat()))),
	eligibleInstances: optional(fc.array(fc.record({gpu: fc.nat(1023), uuid: text}), {minLength: 1, maxLength: 3})),
	allocatedGpus: fc.array(fc.nat()),
	reservationType: type,
	expirySeconds: optional(nanosecondExact),
	timeLimitSeconds: optional(fc.nat()),
	note: optionalText,
	via: optionalText,
	enqueueTime: time,
	lastHeartbeat: time,
	waitTimeout: optional(time),
	force: fc.constantFrom(true, undefined),
	unavailable: optional(anyOutages),
	machine: optionalText,
	bootId: optionalText,
	holder: optional(process),
	silence: optional(silence),
	unknownFields,
});

const endReason = fc.constantFrom<EndReason>('released', 'expired', 'exited', 'holder-died', 'reboot', 'queue-left');

export const anyUsage: fc.Arbitrary<UsageRecord> = fc.record({
	user: text,
	actualUser: optionalText,
	gpuId: fc.nat(1023),
	startTime: time,
	endTime: time,
	durationSeconds: fc.double({min: 0, max: 1e9, noNaN: true}).map((seconds) => (seconds === 0 ? 0 : seconds)),
	reservationType: type,
	leaseId: optionalText,
	note: optionalText,
	model: optionalText,
	mig: optional(fc.record({uuid: text, number: optional(fc.nat(15)), profile: optionalText})),
	endReason: optional(endReason),
});

export const anyEvent: fc.Arbitrary<PoolEvent> = fc.record(
	{
		kind: fc.constantFrom(...eventKinds),
		gpus: fc.array(fc.nat()),
		user: text,
		left: fc.array(text, {minLength: 1}),
	},
	{requiredKeys: ['kind', 'gpus']},
);

/** The longest text that the audit log does not truncate. */
const shortText = optional(fc.string({unit: 'grapheme-ascii', minLength: 1, maxLength: 40}));

const instancesOfGpus = fc.array(
	fc.tuple(fc.nat(1023), instance).map(([gpu, held]) => ({gpu, ...held})),
	{minLength: 1, maxLength: 3},
);

export const anyAudit: fc.Arbitrary<AuditRecord> = fc.record({
	time,
	kind: fc.constantFrom(...auditKinds),
	account: shortText,
	label: shortText,
	owner: shortText,
	host: shortText,
	gpus: fc.array(fc.nat(1023)),
	instances: optional(instancesOfGpus),
	count: optional(fc.nat(1024)),
	need: optional(anyNeed),
	provider: shortText,
	key: shortText,
	value: shortText,
	before: optional(
		fc
			.record({
				count: optional(fc.nat(1024)),
				provider: shortText,
				location: shortText,
				reason: shortText,
				value: shortText,
			})
			.filter((before) => Object.values(before).some((value) => value !== undefined)),
	),
	leaseId: shortText,
	entryId: shortText,
	jobId: shortText,
	forced: fc.constantFrom(true, undefined),
	via: fc.oneof(fc.constant('web'), shortText),
	until: optional(time),
	reason: shortText,
	note: shortText,
});

export const anyJob: fc.Arbitrary<Job> = fc.record({
	number: fc.integer({min: 1, max: 99_999}),
	token: text,
	state: fc.constantFrom(...jobStates),
	account: text,
	directory: text,
	words: fc.array(text, {maxLength: 3}),
	command: fc.array(text, {maxLength: 3}),
	seal: optionalText,
	via: optionalText,
	count: fc.nat(1024),
	need: optional(anyNeed),
	after: fc.array(fc.record({id: text, isAny: fc.boolean()}), {maxLength: 2}),
	begin: optional(time),
	array: optional(fc.record({id: fc.nat(), index: fc.nat(), limit: fc.nat()}, {requiredKeys: ['id', 'index']})),
	retries: fc.nat(9),
	starts: fc.nat(9),
	submitTime: time,
	startTime: optional(time),
	endTime: optional(time),
	leaseId: optionalText,
	gpus: optional(fc.array(fc.nat(1023), {minLength: 1, maxLength: 3})),
	instances: optional(instancesOfGpus),
	exitCode: optional(fc.nat(255)),
	reason: optionalText,
	cancelledBy: optionalText,
	cancelledVia: optionalText,
	log: text,
	machine: optionalText,
	bootId: optionalText,
	holder: optional(process),
	isHeld: fc.boolean(),
	job: optional(process),
	unknownFields,
});

export const anyDrains: fc.Arbitrary<ReadonlyMap<number, Drain>> = fc
	.uniqueArray(fc.tuple(fc.nat(3), fc.record({reason: optionalText, by: optionalText, since: time})), {
		selector: ([gpu]) => gpu,
	})
	.map((drains) => new Map(drains));

export const anyPolicy: fc.Arbitrary<ReadonlyMap<string, PolicySetting>> = fc
	.uniqueArray(fc.tuple(text, fc.record({value: text, by: optionalText, since: time})), {
		selector: ([key]) => key,
		maxLength: 3,
	})
	.map((settings) => new Map(settings));

export const anyBaselines: fc.Arbitrary<ReadonlyMap<number, MemoryBaseline>> = fc
	.uniqueArray(fc.tuple(fc.nat(3), fc.record({memoryMiB: fc.nat(81_559), uuid: optionalText, bootId: optionalText})), {
		selector: ([gpu]) => gpu,
	})
	.map((baselines) => new Map(baselines));

export const anyOveruse: fc.Arbitrary<readonly Overuse[]> = fc.array(
	fc.record({
		gpu: fc.nat(3),
		leaseId: fc.string({minLength: 1, unit: 'grapheme'}),
		since: time,
		countedAt: time,
		scans: fc.nat(3),
		usedMiB: fc.nat(81_559),
		isRecorded: fc.boolean(),
		isReminded: fc.boolean(),
	}),
	{maxLength: 3},
);

export const anyAlerts: fc.Arbitrary<readonly Alert[]> = fc.array(
	fc.record({
		kind: fc.constantFrom('unreserved', 'squatter', 'health'),
		gpu: fc.nat(3),
		account: optionalText,
		owner: optionalText,
		problem: optional(fc.constantFrom('ecc', 'xid', 'needs-reset', 'fell-off-the-bus', 'temperature')),
		since: time,
		isTold: optional(fc.constant(true)),
	}),
	{maxLength: 3},
);

export const anyTime = time;

export const anyEnded: fc.Arbitrary<EndedLease> = fc.record({reason: text, leaseId: text}, {requiredKeys: ['reason']});
