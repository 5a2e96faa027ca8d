import type {GpuReading} from '../../core/model/types.js';
import {failureOfWords, type Reading, type ReadingWord} from '../error-words.js';
import {judgeHealth} from '../health.js';
import {normalizePciBusId} from '../../core/model/observation.js';
import {type BareReading, withoutVoidMemory} from '../reading.js';
import {isObject, type JsonObject, type Quantity, readQuantity, readText, valueAt} from './json.js';

/** Answers of `amd-smi metric`, `static` and `list`, by GPU. */
type AmdAnswers = {
	readonly metric: ReadonlyMap<number, JsonObject>;
	/** Names and limits. A GPU whose facts are unreadable has no entry. */
	readonly fixed: ReadonlyMap<number, JsonObject>;
	readonly list: ReadonlyMap<number, JsonObject>;
	/** GPUs that could not be queried, with the tool's messages. */
	readonly failures?: ReadonlyMap<number, string>;
};

/** A reading and its paths in the tool's answer, which depend on the version. The paths of ROCm 6 and 7 come first. */
type ValuePath = {readonly quantity: Quantity; readonly paths: readonly string[]; readonly plainUnit?: string};

const metricPaths = {
	memoryUsedMiB: {
		quantity: 'memory',
		paths: ['mem_usage.used_vram', 'fb_usage.vram_used', 'fb_usage.fb_used'],
		plainUnit: 'MB',
	},
	memoryTotalMiB: {
		quantity: 'memory',
		paths: ['mem_usage.total_vram', 'fb_usage.vram_total', 'fb_usage.fb_total'],
		plainUnit: 'MB',
	},
	utilizationPercent: {quantity: 'percent', paths: ['usage.gfx_activity', 'usage.gfx_usage']},
	memoryUtilizationPercent: {quantity: 'percent', paths: ['usage.umc_activity', 'usage.mem_usage']},
	powerWatts: {
		quantity: 'power',
		paths: ['power.socket_power', 'power.current_socket_power', 'power.average_socket_power', 'power.current_power'],
	},
	fanPercent: {quantity: 'percent', paths: ['fan.usage']},
	smClockMHz: {quantity: 'clock', paths: ['clock.gfx_0.clk', 'clock.gfx.clk', 'clock.gfx.cur_clk']},
	memoryClockMHz: {quantity: 'clock', paths: ['clock.mem_0.clk', 'clock.mem.clk', 'clock.mem.cur_clk']},
	eccUncorrectedErrors: {quantity: 'count', paths: ['ecc.total_uncorrectable_count', 'ecc.uncorrectable']},
} as const satisfies Partial<Record<keyof GpuReading, ValuePath>>;

/** A GPU of unknown kind with at most this many MiB counts as sharing the machine's memory, of which the firmware reserves up to a few GiB. */
const largestCarveOutMiB = 4096;

/** Whether the GPU is part of a processor. Most of its used memory is then the machine's memory, which AMD calls GTT. */
const isIntegrated = (measured: JsonObject, fixed: JsonObject): boolean => {
	const type = readText(valueAt(fixed, 'vram.type'));
	if (type !== undefined) {
		return !/gddr|hbm/iv.test(type);
	}

	const own = take(measured, metricPaths.memoryTotalMiB);
	const shared = take(measured, gttTotal);
	if (own === undefined || shared === undefined || !('value' in own) || !('value' in shared)) {
		return false;
	}

	const hasNoSlot = /^n\/a$/iv.test(String(valueAt(fixed, 'bus.max_pcie_width')));
	return shared.value > own.value && (hasNoSlot || own.value <= largestCarveOutMiB);
};

export const integratedGpus = ({metric, fixed}: Pick<AmdAnswers, 'metric' | 'fixed'>): ReadonlySet<number> =>
	new Set([...metric].flatMap(([index, measured]) => (isIntegrated(measured, fixed.get(index) ?? {}) ? [index] : [])));

const gttUsed: ValuePath = {quantity: 'memory', paths: ['mem_usage.used_gtt', 'fb_usage.gtt_used'], plainUnit: 'MB'};
const gttTotal: ValuePath = {quantity: 'memory', paths: ['mem_usage.total_gtt', 'fb_usage.gtt_total'], plainUnit: 'MB'};

/** Adds the GPU's own memory and the machine's memory. The result is unknown if one of them is unknown. */
const together = (own: Taken, shared: Taken): Taken => {
	const parts = [own, shared ?? {word: 'the machine’s memory in use is not reported'}];
	return parts.every((part) => part !== undefined && 'value' in part)
		? {value: parts.reduce((sum, part) => sum + part.value, 0)}
		: parts.find((part) => part === undefined || 'word' in part);
};

/** Temperature sensors, each with its own limit. The first one with a reading is used. */
const sensors = ['edge', 'hotspot', 'mem'] as const;

/** If a GPU reports none of these readings and no temperature, it does not answer at all. */
const vital = ['memoryUsedMiB', 'memoryTotalMiB', 'utilizationPercent', 'powerWatts'] as const;

/** Combines the answers, by index. A GPU that is only listed, or has no readable value, gets a `failure`. */
export const readGpus = ({metric, fixed, list, failures = new Map()}: AmdAnswers): readonly BareReading[] =>
	[...new Set([...metric.keys(), ...list.keys(), ...failures.keys()])]
		.toSorted((a, b) => a - b)
		.map((index) => readGpu(index, {metric, fixed, list, failures}));

export const readDriverVersion = (fixed: AmdAnswers['fixed']): string | undefined => {
	for (const entry of fixed.values()) {
		const version = readText(valueAt(entry, 'driver.version')) ?? readText(valueAt(entry, 'driver.driver_version'));
		if (version !== undefined) {
			return version;
		}
	}

	return undefined;
};

type Taken = {readonly value: number} | {readonly word: string} | undefined;

/** Returns the first reading at the paths. If there is none, returns the first word that the tool prints instead of a reading. */
const take = (entry: JsonObject, {quantity, paths, plainUnit}: ValuePath): Taken => {
	const readings = paths.flatMap((path) => readQuantity(valueAt(entry, path), quantity, plainUnit) ?? []);
	return readings.find((one) => one.kind === 'number') ?? readings[0];
};

const readGpu = (index: number, {metric, fixed, list, failures}: Required<AmdAnswers>): BareReading => {
	const measured = metric.get(index) ?? {};
	const still = fixed.get(index) ?? {};
	const listed = list.get(index) ?? {};
	const unknown: Record<string, string> = {};

	const number = (field: keyof GpuReading, ...takes: readonly Taken[]): number | undefined => {
		for (const taken of takes) {
			if (taken !== undefined && 'value' in taken) {
				return taken.value;
			}
		}

		const word = takes.find((taken) => taken !== undefined);
		if (word !== undefined && 'word' in word) {
			unknown[field] = word.word;
		}

		return undefined;
	};

	const paths = Object.entries(metricPaths) as ReadonlyArray<[keyof typeof metricPaths, ValuePath]>;
	const taken = new Map(paths.map(([field, path]) => [field, take(measured, path)]));
	if (isIntegrated(measured, still)) {
		taken.set('memoryUsedMiB', together(taken.get('memoryUsedMiB'), take(measured, gttUsed)));
		taken.set('memoryTotalMiB', together(taken.get('memoryTotalMiB'), take(measured, gttTotal)));
	}

	const size = take(still, {quantity: 'memory', paths: ['vram.size', 'vram.vram_size_mb'], plainUnit: 'MB'});
	const temperatures = sensors.map((sensor) =>
		take(measured, {quantity: 'temperature', paths: [`temperature.${sensor}`]}),
	);
	const sensor = temperatures.findIndex((one) => one !== undefined && 'value' in one);
	const limit = sensor === -1 ? undefined : temperatureLimit(still, sensors[sensor] ?? '');
	const busId = [valueAt(listed, 'bdf'), valueAt(still, 'bus.bdf')]
		.map((raw) => readText(raw))
		.find((text) => text !== undefined);

	const readings: Partial<GpuReading> = {
		...Object.fromEntries(
			paths.map(([field]) => [field, number(field, taken.get(field), field === 'memoryTotalMiB' ? size : undefined)]),
		),
		temperatureCelsius: number('temperatureCelsius', ...temperatures),
		temperatureLimitCelsius: limit,
		powerLimitWatts: powerLimit(still, measured),
		throttleReasons: throttleReasons(measured),
	};
	const vitals = [...vital.map((field) => taken.get(field)), ...temperatures];
	const failure = failures.get(index) ?? failureOf(metric.get(index), vitals) ?? failureOfWords(namedWords(unknown));
	return withoutVoidMemory({
		index,
		uuid: readText(valueAt(listed, 'uuid')),
		pciBusId: normalizePciBusId(busId ?? '') ?? busId,
		name: readText(valueAt(still, 'asic.market_name')) ?? readText(valueAt(still, 'board.product_name')),
		...readings,
		health: judgeHealth({...readings, failure}),
		failure,
		unknown,
	});
};

/** Names of readings in messages about failures. amd-smi and rocm-smi use different names. */
const fieldNames: Partial<Readonly<Record<Reading, string>>> = {
	memoryUsedMiB: 'memory used',
	memoryTotalMiB: 'memory total',
	utilizationPercent: 'GPU use',
	memoryUtilizationPercent: 'memory activity',
	temperatureCelsius: 'temperature',
	smClockMHz: 'GPU clock',
	memoryClockMHz: 'memory clock',
};

const namedWords = (unknown: Readonly<Partial<Record<Reading, string>>>): readonly ReadingWord[] =>
	(Object.entries(unknown) as ReadonlyArray<[Reading, string]>).map(([reading, word]) => ({
		reading,
		field: fieldNames[reading] ?? reading,
		word,
	}));

/** Returns a limit, or undefined for 0, which means that there is no limit. */
const positive = (taken: Taken): number | undefined =>
	taken !== undefined && 'value' in taken && taken.value > 0 ? taken.value : undefined;

const temperatureLimit = (fixed: JsonObject, sensor: string): number | undefined => {
	const name = sensor === 'mem' ? 'vram' : sensor;
	return positive(take(fixed, {quantity: 'temperature', paths: [`limit.slowdown_${name}_temperature`]}));
};

const powerLimit = (fixed: JsonObject, measured: JsonObject): number | undefined => {
	const paths = [
		'limit.socket_power',
		'limit.ppt0.socket_power_limit',
		'limit.max_power',
		'limit.ppt0.max_power_limit',
	];
	for (const path of paths) {
		const watts = positive(take(fixed, {quantity: 'power', paths: [path]}));
		if (watts !== undefined) {
			return watts;
		}
	}

	return positive(take(measured, {quantity: 'power', paths: ['power.power_limit']}));
};

/** Returns why a GPU is throttled. ROCm 7 has keys such as `"ppt_violation_status": "ACTIVE"`. Older versions only report that it is throttled. */
const throttleReasons = (measured: JsonObject): readonly string[] | undefined => {
	const section = valueAt(measured, 'throttle');
	const statuses = Object.entries(isObject(section) ? section : {}).flatMap(([key, status]) => {
		const name = /^(?<name>\w+)_violation_status$/v.exec(key)?.groups?.['name'];
		return name !== undefined && typeof status === 'string' && /^(?:not )?active$/iv.test(status)
			? [{name, status}]
			: [];
	});
	if (statuses.length > 0) {
		return statuses
			.filter(({name, status}) => /^active$/iv.test(status) && name !== 'low_utilization')
			.map(({name}) => name.replaceAll('_', ' '));
	}

	const word = valueAt(measured, 'power.throttle_status');
	return word === 'UNTHROTTLED' ? [] : word === 'THROTTLED' ? ['throttled'] : undefined;
};

const failureOf = (entry: JsonObject | undefined, vitals: readonly Taken[]): string | undefined => {
	if (entry === undefined) {
		return 'the GPU is listed, but without readings';
	}

	const known = vitals.filter((taken) => taken !== undefined);
	if (known.some((taken) => 'value' in taken)) {
		return undefined;
	}

	const error = readText(valueAt(entry, 'error'));
	const words = [...new Set(known.flatMap((taken) => ('word' in taken ? [taken.word] : [])))];
	return error ?? (words.length === 0 ? 'no readings' : `no readings (${words.slice(0, 3).join(', ')})`);
};
