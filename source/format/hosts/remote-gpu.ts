/** Converts another host's `status --json` to rows of our web API. Drops invalid values, because the input is untrusted. */
import * as v from 'valibot';
import {longestSeconds} from '../../core/rules/leases/durations.js';
import type {ShownState} from '../../core/rules/pool/status.js';
import {maskSecrets} from '../../core/rules/processes/secrets.js';
import {timestamp} from '../text/durations.js';
import {ownerText} from '../owner.js';
import {sanitize} from '../text/text.js';

type Row = Readonly<Record<string, unknown>>;

const longestText = 500;
const mostItems = 64;

const optional = <Schema extends v.GenericSchema>(schema: Schema) => v.fallback(v.optional(schema), () => undefined);

const plain = v.pipe(
	v.string(),
	// Cuts first, so that sanitizing a long text costs no time.
	v.transform((words) => sanitize(words.slice(0, longestText))),
);
const text = () => optional(plain);
const number = () => optional(v.pipe(v.number(), v.finite()));
const flag = () => optional(v.boolean());

/** A time with a year of four digits. The Go program writes year 1 for an unset time. A longer year comes from a wrong clock. */
const time = () =>
	optional(
		v.pipe(
			plain,
			v.check((words) => /^(?!0001-)\d{4}-/v.test(words) && !Number.isNaN(Date.parse(words))),
		),
	);

const known = <Schema extends v.GenericSchema>(item: Schema) =>
	v.pipe(
		v.array(v.unknown()),
		v.transform((items) =>
			items.slice(0, mostItems).flatMap((value) => {
				const result = v.safeParse(item, value);
				return result.success ? [result.output] : [];
			}),
		),
	);

/** Like `known`, but returns undefined for an empty list. */
const list = <Schema extends v.GenericSchema>(item: Schema) =>
	optional(
		v.pipe(
			known(item),
			v.transform((items) => (items.length === 0 ? undefined : items)),
		),
	);

const processSchema = v.object({
	pid: v.pipe(v.number(), v.safeInteger()),
	user: text(),
	name: text(),
	// Masks secrets, because older versions do not. The text is cut only afterwards, because half a secret cannot be recognized.
	command: optional(
		v.pipe(
			v.string(),
			v.transform((line) => maskSecrets(line.slice(0, 2 * longestText))),
			plain,
		),
	),
	memory_used_mb: number(),
	utilization: number(),
	cpu_percent: number(),
	host_memory_mb: number(),
	container_id: text(),
	start_time: time(),
});

const partSchema = v.object({
	instance: number(),
	profile: text(),
	gpu_instance_id: number(),
	compute_instance_id: number(),
	uuid: text(),
	memory_used_mb: number(),
	memory_total_mb: number(),
});

const lasting = () => optional(v.pipe(v.number(), v.minValue(0), v.maxValue(longestSeconds)));

const plausible = (seconds: number | undefined): number | undefined =>
	seconds !== undefined && seconds <= longestSeconds ? seconds : undefined;

const shareSchema = v.object({user: text(), actual_user: text()});

const rowSchema = v.object({
	gpu_id: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
	status: v.fallback(v.picklist(['AVAILABLE', 'IN_USE', 'UNRESERVED', 'ERROR']), 'ERROR'),
	user: text(),
	actual_user: text(),
	duration: text(),
	type: text(),
	note: text(),
	via: text(),
	details: text(),
	validation: text(),
	model: optional(v.object({provider: text(), model: plain})),
	gpu_model: text(),
	last_released: time(),
	last_heartbeat: time(),
	expiry_time: time(),
	unreserved_users: list(plain),
	process_info: text(),
	error: text(),
	uuid: text(),
	memory_used_mb: number(),
	memory_total_mb: number(),
	utilization: number(),
	temperature: number(),
	power_w: number(),
	lease_id: text(),
	node: text(),
	node_gpu_id: number(),
	ends_by: time(),
	remaining_seconds: lasting(),
	held_for_queue: text(),
	shares: list(shareSchema),
	drained: optional(v.object({reason: text(), by: text(), since: time()})),
	health: list(plain),
	idle_seconds: lasting(),
	reclaim_at: time(),
	beyond_limit: flag(),
	parked_since: time(),
	keep_until: time(),
	// An empty list means that there are no instances.
	mig_instances: optional(known(partSchema)),
	processes: optional(known(processSchema)),
	simulated: flag(),
});

/** Parses `1h 2m 15s` as seconds. Undefined for anything else. */
export function secondsOf(duration: unknown): number | undefined {
	const {h, m, s} = /^(?<h>\d{1,7})h (?<m>\d{1,2})m (?<s>\d{1,2})s$/v.exec(String(duration))?.groups ?? {};
	return h === undefined ? undefined : plausible(Number(h) * 3600 + Number(m) * 60 + Number(s));
}

type SoundRow = v.InferOutput<typeof rowSchema>;

/** Whether a GPU is drained and has no other problem. In both cases, the other host reports the status ERROR. */
const isOnlyDrained = ({status, drained, health, error}: SoundRow): boolean =>
	status === 'ERROR' &&
	drained !== undefined &&
	health === undefined &&
	error === (drained.reason === undefined ? 'drained' : `drained: ${drained.reason}`);

const shownStates: Readonly<Record<SoundRow['status'], ShownState>> = {
	AVAILABLE: 'available',
	IN_USE: 'in-use',
	UNRESERVED: 'unreserved',
	ERROR: 'error',
};

/** Returns the seconds until `end` by this machine's clock, for versions that do not send the seconds themselves. */
const secondsUntil = (end: string | undefined, now: number): number | undefined =>
	end === undefined ? undefined : plausible(Math.max(0, Math.floor(Date.parse(end) / 1000 - now)));

const ago = (now: number, seconds: number | undefined): string | undefined => {
	const began = seconds === undefined ? NaN : Math.floor(now - seconds);
	// Times before the epoch or in the future are wrong.
	return began > 0 && began <= now ? timestamp(began) : undefined;
};

/** Returns the owner. The Go program sends only the account, or only the label. */
const shownOwner = ({user, actual_user: account = user}: Pick<SoundRow, 'user' | 'actual_user'>): string | undefined =>
	account === undefined ? undefined : ownerText(account, user === account ? undefined : user);

export function fromCommandRow(row: Row, now: number) {
	const result = v.safeParse(rowSchema, row);
	if (!result.success) {
		return undefined;
	}

	const {
		user,
		actual_user: account = user,
		type,
		duration,
		validation,
		model,
		details,
		drained,
		idle_seconds: idle,
		processes,
		shares,
		...same
	} = result.output;
	const seconds = secondsOf(duration);
	const freeFor = secondsOf(/^free for (?<time>.*)$/v.exec(details ?? '')?.groups?.['time']);
	return {
		...same,
		user: shownOwner(result.output),
		accounts:
			account === undefined ? shares?.flatMap(({user: name, actual_user: owner = name}) => owner ?? []) : [account],
		state: isOnlyDrained(result.output) ? ('drained' as const) : shownStates[same.status],
		reservation_type: type?.toLowerCase(),
		duration: seconds === undefined ? undefined : seconds * 1e9,
		start_time: ago(now, seconds),
		remaining_seconds: same.remaining_seconds ?? secondsUntil(same.ends_by ?? same.expiry_time, now),
		last_released: same.last_released ?? ago(now, freeFor),
		idle_since: ago(now, idle),
		idle_seconds: idle,
		sharers: shares?.flatMap((share) => shownOwner(share) ?? []),
		validation_info: validation,
		model_info: model,
		drain: drained,
		processes: processes?.map(({container_id: container, ...process}) => ({...process, container})),
	};
}

export type RemoteGpu = NonNullable<ReturnType<typeof fromCommandRow>>;

/** Maximum length of the JSON of one host, because a stream can have many hosts. 64 GPUs need less. */
const mostCharacters = 100_000;

/** Converts all rows of a host, each GPU once. Omits the processes if the JSON is too long. Returns undefined if it is too long even without them. */
export function fromCommandRows(rows: readonly Row[], now: number): readonly RemoteGpu[] | undefined {
	const gpus = new Map(
		rows.flatMap((row) => {
			const gpu = fromCommandRow(row, now);
			return gpu === undefined ? [] : [[gpu.gpu_id, gpu] as const];
		}),
	)
		.values()
		.toArray();
	const fits = (value: unknown): boolean => JSON.stringify(value).length <= mostCharacters;
	if (fits(gpus)) {
		return gpus;
	}

	const bare = gpus.map((gpu) => ({...gpu, processes: undefined}));
	return fits(bare) ? bare : undefined;
}

export type HostStatus = {
	readonly gpus: readonly RemoteGpu[];
	readonly account?: string | undefined;
	readonly waitingCount?: number | undefined;
	/** Why the values of this host are less fresh, such as an older version. */
	readonly remark?: string | undefined;
};
