import {readFileSync} from 'node:fs';
import type {Reading} from '../error-words.js';
import type {ToolCall} from '../tool/early-tool.js';

/** Fields that every supported driver knows. */
const basicFields = [
	'index',
	'uuid',
	'pci.bus_id',
	'name',
	'memory.total',
	'memory.used',
	'utilization.gpu',
	'utilization.memory',
	'temperature.gpu',
	'pstate',
	'power.draw',
	'power.limit',
	'fan.speed',
	'clocks.current.sm',
	'clocks.current.memory',
	'compute_mode',
	'ecc.errors.uncorrected.volatile.total',
	'retired_pages.pending',
	'driver_version',
] as const;

/** Fields of later drivers, oldest first. nvidia-smi rejects a query at its first unknown field. */
const laterFields: ReadonlyArray<{readonly since: number; readonly fields: readonly string[]}> = [
	{since: 450, fields: ['mig.mode.current', 'mig.mode.pending']},
	{since: 510, fields: ['memory.reserved', 'compute_cap']},
	{since: 535, fields: ['clocks_event_reasons.active', 'temperature.gpu.tlimit']},
	{since: 565, fields: ['gpu_recovery_action']},
	{since: 580, fields: ['remapped_rows.failure']},
];

/** The old name of `clocks_event_reasons.active`. */
const olderReasons = 'clocks_throttle_reasons.active';

/** Fields used before `gpu_recovery_action` existed. */
const resetStatus = {
	since: 535,
	until: 'gpu_recovery_action',
	fields: ['reset_status.reset_required', 'reset_status.drain_and_reset_recommended'],
} as const;

/** New name of `driver_version`, which will be removed (nvidia-smi -q of 610: "will be removed in CUDA 14.0"). */
const newerVersion = {since: 610, field: 'kmd_version'} as const;

/** The reading of each field. Other fields are about the health or mode of the GPU. */
export const readingOfField = {
	uuid: 'uuid',
	'pci.bus_id': 'pciBusId',
	name: 'name',
	'memory.total': 'memoryTotalMiB',
	'memory.used': 'memoryUsedMiB',
	'memory.reserved': 'memoryReservedMiB',
	'utilization.gpu': 'utilizationPercent',
	'utilization.memory': 'memoryUtilizationPercent',
	'temperature.gpu': 'temperatureCelsius',
	'temperature.gpu.tlimit': 'temperatureLimitCelsius',
	pstate: 'performanceState',
	'power.draw': 'powerWatts',
	'power.limit': 'powerLimitWatts',
	'fan.speed': 'fanPercent',
	'clocks.current.sm': 'smClockMHz',
	'clocks.current.memory': 'memoryClockMHz',
	compute_mode: 'computeMode',
	compute_cap: 'computeCapability',
	'ecc.errors.uncorrected.volatile.total': 'eccUncorrectedErrors',
	'mig.mode.current': 'isMigEnabled',
	'clocks_event_reasons.active': 'throttleReasons',
	'clocks_throttle_reasons.active': 'throttleReasons',
} as const satisfies Readonly<Record<string, Reading>>;

export type ReadingField = keyof typeof readingOfField;

export const readingNamed = (field: string): Reading | undefined =>
	Object.hasOwn(readingOfField, field) ? readingOfField[field as ReadingField] : undefined;

/**
Returns the fields to query for each GPU (`nvidia-smi --help-query-gpu`), in order. Omits the refused fields and
those that the driver's major version (550 for 550.54.14) does not know. If the version is unknown, a refused field means an older driver. Then, all
fields of the same or later versions are omitted, because an old tool would otherwise run once per field.
*/
export const gpuFields = (refused: ReadonlySet<string>, driverMajor = Infinity): readonly string[] => {
	const isAgeKnown = driverMajor !== Infinity;
	const refusing = isAgeKnown ? undefined : laterFields.find(({fields}) => fields.some((field) => refused.has(field)));
	const known = laterFields.filter(({since}) => since <= driverMajor && since < (refusing?.since ?? Infinity));
	const later = known.flatMap(({fields}) => fields).filter((field) => !refused.has(field));
	const reasons = later.includes('clocks_event_reasons.active') ? [] : [olderReasons];
	const isBetween = known.some(({since}) => since >= resetStatus.since) && !later.includes(resetStatus.until);
	const status = isBetween ? resetStatus.fields : [];
	// The new name is used only if the driver is known to support it. Otherwise, most tools would reject the query and have to run again.
	const hasNewVersion = isAgeKnown && driverMajor >= newerVersion.since;
	const basic = basicFields.map((field) => (field === 'driver_version' && hasNewVersion ? newerVersion.field : field));
	return [...basic, ...later, ...reasons, ...status].filter((field) => !refused.has(field));
};

/** Fields of each process (`nvidia-smi --help-query-compute-apps`). Without the name, which could imitate another row, and which the kernel knows. */
export const processFields = ['gpu_uuid', 'pid', 'used_gpu_memory'] as const;

export type Query = '--query-gpu' | '--query-compute-apps';

export const queryArguments = (query: Query, fields: readonly string[]): readonly string[] => [
	`${query}=${fields.join(',')}`,
	'--format=csv,nounits',
];

export const firstQueries = (command: string): readonly ToolCall[] => [
	{command, args: queryArguments('--query-gpu', gpuFields(new Set(), readDriverMajor()))},
	{command, args: queryArguments('--query-compute-apps', processFields)},
];

/** The kernel's note of a loaded module's version. Reading it runs no driver code, so it cannot hang. */
const moduleVersionFile = '/sys/module/nvidia/version';

/** Returns the first number of the driver's version. Undefined if unknown, as under WSL. */
export const readDriverMajor = (file = moduleVersionFile): number | undefined => {
	try {
		const major = /^(?<major>\d{2,4})\./v.exec(readFileSync(file, 'utf8'))?.groups?.['major'];
		return major === undefined ? undefined : Number(major);
	} catch {
		return undefined;
	}
};
