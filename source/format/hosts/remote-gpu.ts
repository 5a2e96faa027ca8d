/**
What another host's `status --json` says, in the words of the web API: so the monitor and the page show every box in the same way. That host
may say whatever it likes: of what is not as it should be, nothing is kept.
*/
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
	// Cut first: what is long must not cost time.
	v.transform((words) => sanitize(words.slice(0, longestText))),
);
const text = () => optional(plain);
const number = () => optional(v.pipe(v.number(), v.finite()));
const flag = () => optional(v.boolean());

/** The peer writes the year 1 for a time that is not set. A year of more digits comes from a clock that stands anywhere. */
const time = () =>
	optional(
		v.pipe(
			plain,
			v.check((words) => /^(?!0001-)\d{4}-/v.test(words) && !Number.isNaN(Date.parse(words))),
		),
	);

/** Of its items those that are as they should be. */
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

/** The same; an empty list is none. */
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
	// A host of an earlier version masks nothing. Half a secret is not known by its shape, so that it is masked before it is cut.
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
	profile: text(),
	gpu_instance_id: number(),
	compute_instance_id: number(),
	uuid: text(),
	memory_used_mb: number(),
	memory_total_mb: number(),
});

/** How long something has lasted, or will: no longer than any duration may be. */
const lasting = () => optional(v.pipe(v.number(), v.minValue(0), v.maxValue(longestSeconds)));

const plausible = (seconds: number | undefined): number | undefined =>
	seconds !== undefined && seconds <= longestSeconds ? seconds : undefined;

/** One share of a GPU that several hold. */
const shareSchema = v.object({user: text(), actual_user: text()});

const rowSchema = v.object({
	gpu_id: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
	status: v.fallback(v.picklist(['AVAILABLE', 'IN_USE', 'UNRESERVED', 'ERROR']), 'ERROR'),
	user: text(),
	actual_user: text(),
	duration: text(),
	type: text(),
	note: text(),
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
	// An empty list says that there are none.
	mig_instances: optional(known(partSchema)),
	processes: optional(known(processSchema)),
	simulated: flag(),
});

/** `1h 2m 15s` in seconds; undefined for anything else. */
export function secondsOf(duration: unknown): number | undefined {
	const {h, m, s} = /^(?<h>\d{1,7})h (?<m>\d{1,2})m (?<s>\d{1,2})s$/v.exec(String(duration))?.groups ?? {};
	return h === undefined ? undefined : plausible(Number(h) * 3600 + Number(m) * 60 + Number(s));
}

type SoundRow = v.InferOutput<typeof rowSchema>;

/** Out of service by hand and for no other reason, which that host tells as an error; earlier versions do so too. */
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

/** The seconds until then by this machine's clock: for versions that tell only when. */
const secondsUntil = (end: string | undefined, now: number): number | undefined =>
	end === undefined ? undefined : plausible(Math.max(0, Math.floor(Date.parse(end) / 1000 - now)));

/** What lasts for so long began then. */
const ago = (now: number, seconds: number | undefined): string | undefined => {
	const began = seconds === undefined ? NaN : Math.floor(now - seconds);
	// Nothing that a GPU does began before the epoch, or in days to come.
	return began > 0 && began <= now ? timestamp(began) : undefined;
};

/** The Go program tells the account alone, or the label alone. */
const shownOwner = ({user, actual_user: account = user}: Pick<SoundRow, 'user' | 'actual_user'>): string | undefined =>
	account === undefined ? undefined : ownerText(account, user === account ? undefined : user);

/**
@param now - Seconds since the epoch, for the start of what has lasted for a while.
*/
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
		/** The accounts that hold it: one, or those of its shares. */
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
		/** Who holds a share of it, where several do. */
		sharers: shares?.flatMap((share) => shownOwner(share) ?? []),
		validation_info: validation,
		model_info: model,
		drain: drained,
		processes: processes?.map(({container_id: container, ...process}) => ({...process, container})),
	};
}

/** A row of a remote host, of which only known keys with values of their kind are left. */
export type RemoteGpu = NonNullable<ReturnType<typeof fromCommandRow>>;

/** More than a box of 64 GPUs has to say, and little enough for many hosts on one stream. */
const mostCharacters = 100_000;

/**
All of a host, each GPU once, and no more than can be sent to every page now and then: of too much, the processes are left out first.

@returns Undefined when it is too much even so.
*/
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

/** What another host says of itself. */
export type HostStatus = {
	readonly gpus: readonly RemoteGpu[];
	/** The account that it knows us by. Undefined: it does not tell. */
	readonly account?: string | undefined;
	/** How many wait there. Undefined: it does not tell. */
	readonly waitingCount?: number | undefined;
	/** What keeps its values from being as fresh as those of others, such as an older version. */
	readonly remark?: string | undefined;
};
