/** All settings. The path of a setting is its position in a config file (`redis.port`), and names its environment variable (`CANHAZGPU_REDIS_PORT`). */
import * as v from 'valibot';
import {parseDuration, shortestHoldSeconds} from '../core/rules/leases/durations.js';
import {hostPattern, isRemoteHost} from '../core/model/other-hosts.js';
import {noticeEvents, usualEvents} from '../core/rules/notices/events.js';
import {parseQuietTime, type QuietTime} from '../core/rules/notices/quiet.js';
import {parseTarget, targetForms, targetsProblem, type Target} from '../core/rules/notices/targets.js';
import {cudaVersionPattern} from '../core/rules/cuda/cuda.js';
import {idWordsOf, isGpuId} from '../core/rules/request/gpu-ids.js';
import {checkNote, longestNote} from '../core/rules/request/request.js';
import type {CanhazgpuError} from '../errors.js';
import {isolationLevels} from '../core/model/isolation.js';
import {mostGpus, providerNames} from '../core/model/observation.js';
import {strategyNames} from '../core/model/need.js';
import {gpuColumnNames, graphCharacters, presetNames, themeNames} from '../format/monitor-settings.js';
import {parseMemoryMiB, parseShareMiB} from '../core/rules/request/memory-size.js';

const text = (what = 'text that is not empty') => v.pipe(v.string(what), v.trim(), v.minLength(1, what));

const note = () => {
	const what = `text of at most ${longestNote} characters`;
	return v.pipe(
		text(),
		v.check((typed) => noteProblem(typed) === undefined, what),
	);
};

const absolutePath = (what: string) => v.pipe(text(what), v.startsWith('/', what));

const integer = (minimum: number, maximum: number) => {
	const what = `a whole number from ${minimum} to ${maximum}`;
	return v.pipe(v.number(what), v.safeInteger(what), v.minValue(minimum, what), v.maxValue(maximum, what));
};

const flag = () => v.boolean('true or false');

const gpuIds = () => {
	const what = 'GPU ids such as 1,3';
	const id = v.pipe(v.number(what), v.safeInteger(what), v.minValue(0, what), v.maxValue(mostGpus - 1, what));
	return v.pipe(
		v.union([v.array(id, what), v.string(what), v.number(what)], what),
		v.transform((typed) => (Array.isArray(typed) ? typed : idWordsOf(String(typed)).map((word) => idOf(word)))),
		v.array(id, what),
		v.minLength(1, what),
	);
};

const idOf = (typed: string): number => (isGpuId(typed) ? Number(typed) : NaN);

const choice = <const Options extends readonly string[]>(options: Options) =>
	v.picklist(options, `one of ${options.join(', ')}`);

/** Accepts text such as `1h30m` and converts it to seconds. */
const duration = (examples = '30m, 2h or 1h30m') => {
	const what = `a duration such as ${examples}`;
	return v.pipe(
		v.string(what),
		v.check((typed) => durationProblem(typed) === undefined, what),
		v.transform((typed) => parseDuration(typed, '')),
	);
};

const wholeDuration = () => {
	const what = 'a duration of at least one second, such as 30m, 2h or 1h30m';
	return v.pipe(duration(), v.minValue(shortestHoldSeconds, what));
};

const boundedDuration = (minimumSeconds: number, maximumSeconds: number) => {
	const what = `a duration from ${minimumSeconds} to ${maximumSeconds} seconds, such as 10s`;
	return v.pipe(duration(), v.minValue(minimumSeconds, what), v.maxValue(maximumSeconds, what));
};

/** Accepts text such as `40G` and converts it to MiB. */
const size = (parse: (typed: string) => number | undefined, examples: string) => () => {
	const what = `a size with its unit, such as ${examples}`;
	return v.pipe(
		v.string(what),
		v.transform((typed) => parse(typed) ?? 0),
		v.minValue(1, what),
	);
};

const memorySize = size(parseMemoryMiB, '40G or 40GiB');

const shareSize = size(parseShareMiB, '8G or 8GiB');

const models = () => {
	const what = 'a list of GPU models such as h100,a100';
	return v.pipe(
		v.union([v.array(v.string(what), what), v.string(what)], what),
		v.transform((typed) => (Array.isArray(typed) ? typed : typed.split(',')).map((model) => model.trim())),
		v.check((list) => list.length > 0 && list.every((model) => /[\p{Letter}\p{Number}]/v.test(model)), what),
	);
};

/** Accepts the columns of the monitor, in order, as a list or as text with commas. */
const gpuColumns = () => {
	const what = `a list of some of these columns: ${gpuColumnNames.join(', ')}`;
	return v.pipe(
		v.array(v.picklist(gpuColumnNames, what), what),
		v.minLength(1, what),
		v.check((columns) => new Set(columns).size === columns.length, 'a list that names each column only once'),
		// The column `gpu` always comes first, because it identifies the GPU of a row.
		v.transform((columns) => ['gpu' as const, ...columns.filter((column) => column !== 'gpu')]),
	);
};

/** Accepts the keys for each action, as a map or as text such as `release=D,search-next=n`. The monitor checks the names of the actions. */
const keys = () => {
	const what = 'a map from actions to keys, such as {release: D, search-next: [n, F]}';
	const key = v.union([v.string(what), v.number(what)], what);
	return v.pipe(
		v.unknown(),
		// The library alone would accept a list as a map whose keys are positions.
		v.check((typed) => !Array.isArray(typed), what),
		v.union([v.record(v.string(what), v.union([key, v.array(key, what)], what), what), v.string(what)], what),
		v.check(
			(typed) => typeof typed !== 'string' || typed.split(',').every((part) => /^\s*[\-a-z]+=./v.test(part)),
			what,
		),
		v.transform((typed): ReadonlyMap<string, readonly string[]> => {
			const pairs =
				typeof typed === 'string'
					? typed
							.split(',')
							.map((part) => [part.slice(0, part.indexOf('=')).trim(), part.slice(part.indexOf('=') + 1)] as const)
					: Object.entries(typed);
			return new Map(pairs.map(([action, given]) => [action, [given].flat().map(String)]));
		}),
	);
};

const computeCapability = () => {
	const what = 'a compute capability such as 8.0';
	return v.pipe(v.string(what), v.trim(), v.regex(/^\d{1,3}(?:\.\d{1,3})?$/v, what));
};

function problemOf(check: () => unknown): CanhazgpuError | undefined {
	try {
		check();
		return undefined;
	} catch (error) {
		return error as CanhazgpuError;
	}
}

const durationProblem = (raw: unknown): CanhazgpuError | undefined => problemOf(() => parseDuration(String(raw), 'it'));

const noteProblem = (raw: unknown): CanhazgpuError | undefined =>
	problemOf(() => {
		checkNote(String(raw).trim());
	});

/** The longest host name in the domain name system, in characters. */
const longestHostName = 253;

/** Accepts a host name or address. It is passed to other programs, so it must not look like an option. */
const host = () => {
	const what = 'a host name or address';
	return v.pipe(v.string(what), v.maxLength(longestHostName, what), v.regex(hostPattern, what));
};

const remoteHost = () => {
	const what = 'a host name, or user@host';
	return v.pipe(v.string(what), v.check(isRemoteHost, what));
};

const words = (what: string) => v.pipe(v.array(v.string(what), what), v.minLength(1, what));

const webAddress = () => {
	const what = 'an address that begins with http:// or https://';
	return v.pipe(v.string(what), v.url(what), v.regex(/^https?:\/\//v, what));
};

const targets = () => {
	const what = `a list of ${targetForms}`;
	return v.pipe(
		v.array(v.string(what), what),
		v.transform((items) => items.map((item) => item.trim())),
		v.check((items) => targetsProblem(items) === undefined, what),
		v.transform((items): readonly Target[] =>
			items.map((item) => parseTarget(item)).flatMap((parsed) => ('target' in parsed ? [parsed.target] : [])),
		),
	);
};

const events = () => {
	const what = `a list of ${noticeEvents.join(', ')}`;
	return v.array(v.picklist(noticeEvents, what), what);
};

const quietTime = () => {
	const what = 'a start and an end time, such as 22:00-07:00';
	return v.pipe(
		v.string(what),
		v.transform((typed) => parseQuietTime(typed)),
		v.custom<QuietTime>((parsed) => parsed !== undefined, what),
	);
};

/** Accepts a CUDA version. It must be text, because YAML would read `12.0` as the number 12. */
const cudaVersion = () => {
	const what = 'a CUDA version such as "12.4" (in YAML, with quotes)';
	return v.pipe(v.string(what), v.trim(), v.regex(cudaVersionPattern, what));
};

/** Defines a setting. `makeSchema` is called when the setting is first used, because creating all schemas would slow down every start. */
function setting<Schema extends v.GenericSchema>(makeSchema: () => Schema, fallback?: v.InferInput<Schema>) {
	let made: Schema | undefined;
	return {
		schema(): Schema {
			made ??= makeSchema();
			return made;
		},
		fallback,
		isHarmless: false as boolean,
		isSecret: false as boolean,
	};
}

/** Marks a setting that is also read from the file in the working directory. Anybody may have written that file, so a wrong value must do no harm. */
const harmless = <Setting extends Record<string, unknown>>(given: Setting) => ({...given, isHarmless: true});

/** Marks a setting whose value is never shown. host/tool/secrets.ts keeps its environment variable from child processes. */
const secret = <Setting extends Record<string, unknown>>(given: Setting) => ({...given, isSecret: true});

export const settings = {
	// If the engine or the store is not set, it is detected.
	engine: setting(() => choice(['local', 'slurm'])),
	store: setting(() => choice(['redis', 'embedded'])),
	'redis.host': setting(host, 'localhost'),
	'redis.port': setting(() => integer(1, 65_535), 6379),
	'redis.db': setting(() => integer(0, 65_535), 0),
	'redis.url': secret(setting(() => text('an address such as redis://host:6379/0'))),
	'redis.username': setting(text),
	'redis.password': secret(setting(text)),
	'redis.password_file': setting(() => text('the path of a file')),
	'redis.tls': setting(flag, false),
	// These settings have the same names as in redis.conf.
	'redis.tls_ca_cert_file': setting(() => text('the path of a file')),
	'redis.tls_cert_file': setting(() => text('the path of a file')),
	'redis.tls_key_file': setting(() => text('the path of a file')),
	'redis.socket': setting(() => absolutePath('the absolute path of a socket, such as /run/redis/redis.sock')),
	// The default depends on how long earlier scans took.
	'gpu.timeout': setting(() => boundedDuration(1, 300)),
	'memory.threshold': setting(() => integer(0, 10_000_000), 1024),
	'slurm.shard-memory': setting(shareSize),
	// A relative path would name another pool in each working directory.
	'pool.directory': setting(() => absolutePath('the absolute path of a directory'), '/var/lib/canhazgpu'),
	remote_hosts: setting(() => v.array(remoteHost(), 'a list of host names'), []),
	'admin.gpus': setting(() => integer(1, mostGpus)),
	'admin.provider': setting(() => choice(providerNames)),
	'admin.group': setting(() => text('the name of a group')),
	'reserve.gpus': harmless(setting(() => integer(1, mostGpus))),
	'reserve.duration': harmless(setting(wholeDuration, '8h')),
	'reserve.note': harmless(setting(note)),
	// Not marked as harmless, because this name also decides which reservations `release` ends.
	'reserve.user': setting(text),
	'reserve.wait': harmless(setting(duration)),
	'reserve.nonblock': harmless(setting(flag)),
	'reserve.gpu-ids': harmless(setting(gpuIds)),
	// Not harmless: `force` reserves GPUs that are in use, and `short` changes output that scripts read.
	'reserve.force': setting(flag),
	'reserve.min-memory': harmless(setting(memorySize)),
	'reserve.model': harmless(setting(models)),
	'reserve.min-compute': harmless(setting(computeCapability)),
	'reserve.same-model': harmless(setting(flag)),
	'reserve.nvlink': harmless(setting(flag)),
	'reserve.strategy': harmless(setting(() => choice(strategyNames))),
	'reserve.short': setting(flag),
	'run.gpus': harmless(setting(() => integer(1, mostGpus))),
	'run.cuda': harmless(setting(cudaVersion)),
	// Not harmless: the timeout ends the job.
	'run.timeout': setting(duration),
	'run.note': harmless(setting(note)),
	'run.user': setting(text),
	'run.wait': harmless(setting(duration)),
	'run.nonblock': harmless(setting(flag)),
	'run.quiet': harmless(setting(flag)),
	'run.gpu-ids': harmless(setting(gpuIds)),
	// Not harmless: with `off`, the job could use GPUs of other users.
	'run.isolate': setting(() => choice(isolationLevels)),
	'run.numa': harmless(setting(() => choice(['bind', 'off']))),
	'run.min-memory': harmless(setting(memorySize)),
	'run.model': harmless(setting(models)),
	'run.min-compute': harmless(setting(computeCapability)),
	'run.same-model': harmless(setting(flag)),
	'run.nvlink': harmless(setting(flag)),
	'run.strategy': harmless(setting(() => choice(strategyNames))),
	// Not harmless: the ids decide which reservations a release ends.
	'release.gpu-ids': setting(gpuIds),
	'status.json': setting(flag),
	'status.summary': setting(flag),
	'queue.json': setting(flag),
	'report.json': setting(flag),
	'extend.duration': harmless(setting(wholeDuration)),
	// The limit is far longer than the history, because scripts ask for a year.
	'report.days': harmless(setting(() => integer(1, 3650), 30)),
	// 0 means that any free port is used.
	'web.port': setting(() => integer(0, 65_535), 8080),
	'web.host': setting(host, '127.0.0.1'),
	'web.allowed_hosts': setting(() => v.array(host(), 'a list of host names'), []),
	// The default is `full` if only this machine can reach the dashboard, and otherwise `short`, which shows only the program's name.
	'web.commands': setting(() => choice(['full', 'short', 'none'])),
	'web.hosts_interval': setting(() => boundedDuration(1, 3600), '10s'),
	// Secret because of its URLs.
	'notify.to': secret(setting(targets)),
	'notify.events': setting(events, [...usualEvents]),
	'notify.quiet': setting(quietTime),
	'notify.terminals': setting(flag, true),
	'notify.command': secret(setting(() => words('a list with a program and its arguments'))),
	'notify.webhook': secret(setting(webAddress)),
	'top.interval': harmless(setting(() => duration('2s or 1m'), '2s')),
	'top.preset': harmless(setting(() => choice(presetNames), 'default')),
	// Not harmless: a key could do something else than the user expects.
	'top.keys': setting(keys),
	'top.columns': harmless(setting(gpuColumns)),
	// The table is folded by default if not all GPUs fit on the screen.
	'top.fold': harmless(setting(flag)),
	'top.mouse': harmless(setting(flag)),
	'top.graphs': harmless(setting(() => choice(graphCharacters), 'braille')),
	'top.theme': harmless(setting(() => choice(themeNames), 'auto')),
	'simulated.scenario': setting(() => text('the path of a file')),
} as const;

export type SettingPath = keyof typeof settings;

type SchemaOf<Path extends SettingPath> = ReturnType<(typeof settings)[Path]['schema']>;

/** The type of a setting's value. Durations are in seconds. */
export type SettingValue<Path extends SettingPath> = v.InferOutput<SchemaOf<Path>>;

export const settingPaths = Object.keys(settings) as readonly SettingPath[];

export const isSettingPath = (path: string): path is SettingPath => Object.hasOwn(settings, path);

export function choicesOf(path: SettingPath): readonly string[] {
	const schema = settings[path].schema();
	return schema.type === 'picklist' ? schema.options : [];
}

type Checked<Value> = {readonly value: Value} | {readonly expected: string; readonly hint?: string};

const noteHint = (path: SettingPath, raw: unknown): string | undefined =>
	path.endsWith('.note') ? noteProblem(raw)?.message : undefined;

/** Returns a hint that says which item of `notify.to` is wrong. Does not quote the item, because it can contain a secret. */
const targetsHint = (raw: unknown): string | undefined =>
	Array.isArray(raw) && raw.every((item) => typeof item === 'string')
		? targetsProblem(raw.map((item) => item.trim()))
		: 'For example: notify: {to: [terminal, mail]}';

/** Settings with short durations. If one is written as a plain number, the error suggests seconds. */
const shortDurations: ReadonlySet<SettingPath> = new Set(['gpu.timeout', 'top.interval', 'web.hosts_interval']);

const durationHint = (path: SettingPath, raw: unknown): string | undefined =>
	shortDurations.has(path) && /^\s*[1-9]\d*\s*$/v.test(String(raw))
		? `Did you mean ${String(raw).trim()}s (seconds)?`
		: durationProblem(raw)?.hint;

export function checkSetting<Path extends SettingPath>(path: Path, raw: unknown): Checked<SettingValue<Path>> {
	const result = v.safeParse(settings[path].schema(), raw, {abortEarly: true});
	if (result.success) {
		return {value: result.output};
	}

	const expected = result.issues[0].message;
	return path === 'notify.to'
		? {expected, hint: targetsHint(raw)}
		: {expected, hint: expected.startsWith('a duration') ? durationHint(path, raw) : noteHint(path, raw)};
}

export function checkText<Path extends SettingPath>(path: Path, raw: string): Checked<SettingValue<Path>> {
	const {type} = settings[path].schema() as {type: string};
	const trimmed = raw.trim();
	switch (type) {
		case 'number': {
			return checkSetting(path, /^[+\-]?\d+(?:\.\d+)?$/v.test(trimmed) ? Number(trimmed) : trimmed);
		}

		case 'boolean': {
			return checkSetting(path, {true: true, '1': true, false: false, '0': false}[trimmed.toLowerCase()] ?? trimmed);
		}

		case 'array': {
			return checkSetting(
				path,
				trimmed
					.split(',')
					.map((part) => part.trim())
					.filter((part) => part !== ''),
			);
		}

		default: {
			return checkSetting(path, raw);
		}
	}
}
