/** Encodes and decodes a scan that viewers share. Any process can write to the store, so decoding is strict, and decoded scans are only displayed. */
import {longestScan} from '../../model/ports.js';
import {
	latestTime,
	type GpuPlace,
	type GpuProcess,
	type GpuReading,
	type HealthProblem,
	type IdleSpan,
	type MigInstance,
	type Observation,
} from '../../model/types.js';
import {healthKinds, mostGpus, providerNames} from '../../model/observation.js';
import {longestSeconds} from '../leases/durations.js';
import {maskSecrets} from '../processes/secrets.js';

/** The shared part of a complete scan. The store adds its own time. */
export type SharedScan = Omit<Observation, 'takenAtMs' | 'isPartial' | 'lacksKernelLog' | 'isPosted'>;

const version = 1;

const longestCommand = 1024;

/** Reads one value, or throws {@link Nonsense}. */
type Reader<Value> = (value: unknown) => Value;

class Nonsense extends Error {}

const valueThat =
	<Value>(is: (value: unknown) => value is Value): Reader<Value> =>
	(value) => {
		if (is(value)) {
			return value;
		}

		throw new Nonsense();
	};

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

const text = valueThat((value) => typeof value === 'string');
const flag = valueThat((value) => typeof value === 'boolean');
const onlyTrue = valueThat((value): value is true => value === true);
/** Reads a temperature, which can be negative. */
const degrees = valueThat(isNumber);
const quantity = valueThat((value): value is number => isNumber(value) && value >= 0);
const time = valueThat((value): value is number => isNumber(value) && value >= 0 && value <= latestTime);
const duration = valueThat((value): value is number => isNumber(value) && value >= 0 && value <= longestSeconds);
const whole = valueThat((value): value is number => Number.isSafeInteger(value) && (value as number) >= 0);
const list = valueThat((value): value is readonly unknown[] => Array.isArray(value));
const object = valueThat(isObject);

const oneOf = <const Choice extends string>(...choices: readonly Choice[]): Reader<Choice> =>
	valueThat((value): value is Choice => choices.includes(value as Choice));

const listOf =
	<Item>(item: Reader<Item>): Reader<readonly Item[]> =>
	(value) =>
		list(value).map((element) => item(element));

/** Reads an object of texts. A key such as `__proto__` becomes a plain property and does no harm. */
const textsByName: Reader<Readonly<Record<string, string>>> = (value) =>
	Object.fromEntries(Object.entries(object(value)).map(([name, word]) => [name, text(word)]));

/** A reader for each field of a type. If a new field has no reader, the program does not compile. */
type Shape<Value> = {readonly [Name in keyof Value]-?: Reader<Exclude<Value[Name], undefined>>};

/** Reads an object. The named fields are required, and unknown fields are dropped. */
const objectOf =
	<Value extends Record<string, unknown>>(shape: Shape<Value>, required: ReadonlyArray<keyof Value>): Reader<Value> =>
	(value) => {
		const given = object(value);
		if (required.some((name) => !Object.hasOwn(given, name))) {
			throw new Nonsense();
		}

		const known = Object.entries(shape).filter(([name]) => Object.hasOwn(given, name));
		return Object.fromEntries(known.map(([name, read]) => [name, (read as Reader<unknown>)(given[name])])) as Value;
	};

const gpuProcess = objectOf<GpuProcess>(
	{
		pid: whole,
		startTicks: whole,
		startTime: time,
		parentPid: whole,
		user: text,
		name: text,
		commandLine: text,
		ancestors: listOf(text),
		memoryUsedMiB: quantity,
		utilizationPercent: quantity,
		cpuPercent: quantity,
		hostMemoryMiB: quantity,
		containerId: text,
		kind: oneOf('compute', 'graphics', 'both'),
		gpuInstanceId: whole,
		computeInstanceId: whole,
	},
	['pid'],
);

const health = objectOf<HealthProblem>({kind: oneOf(...healthKinds), words: text}, ['kind', 'words']);

const migInstance = objectOf<MigInstance>(
	{
		number: whole,
		profile: text,
		gpuInstanceId: whole,
		computeInstanceId: whole,
		uuid: text,
		memoryUsedMiB: quantity,
		memoryTotalMiB: quantity,
		unknown: textsByName,
	},
	[],
);

const gpu = objectOf<GpuReading>(
	{
		index: whole,
		uuid: text,
		pciBusId: text,
		name: text,
		memoryUsedMiB: quantity,
		memoryTotalMiB: quantity,
		memoryReservedMiB: quantity,
		utilizationPercent: quantity,
		memoryUtilizationPercent: quantity,
		temperatureCelsius: degrees,
		temperatureLimitCelsius: degrees,
		powerWatts: quantity,
		powerLimitWatts: quantity,
		fanPercent: quantity,
		smClockMHz: quantity,
		memoryClockMHz: quantity,
		throttleReasons: listOf(text),
		eccUncorrectedErrors: quantity,
		isMigEnabled: flag,
		isMigPending: flag,
		migInstances: listOf(migInstance),
		computeMode: text,
		computeCapability: text,
		numaNode: whole,
		pciRoot: text,
		processes: listOf(gpuProcess),
		health: listOf(health),
		failure: text,
		place: objectOf<GpuPlace>({node: text, gpu: whole}, ['node', 'gpu']),
		isUnread: onlyTrue,
		unknown: textsByName,
	},
	['index', 'unknown'],
);

const scan = objectOf<SharedScan>(
	{
		provider: oneOf(...providerNames),
		simulated: flag,
		driverVersion: text,
		gpus: listOf(gpu),
		failure: objectOf<NonNullable<Observation['failure']>>({message: text, hint: text, isToolMissing: onlyTrue}, [
			'message',
		]),
		warnings: listOf(text),
		idle: listOf(
			objectOf<IdleSpan>({lease: text, index: whole, uuid: text, seconds: duration, until: time}, [
				'lease',
				'index',
				'seconds',
			]),
		),
	},
	['provider', 'simulated', 'gpus', 'warnings'],
);

const isPossible = ({gpus}: SharedScan): boolean =>
	gpus.length <= mostGpus && new Set(gpus.map(({index}) => index)).size === gpus.length;

export function decodeSharedScan(posted: string): SharedScan | undefined {
	try {
		const value: unknown = posted.length > longestScan ? undefined : JSON.parse(posted);
		if (!isObject(value) || value['version'] !== version) {
			return undefined;
		}

		const shared = scan(value['scan']);
		return isPossible(shared) ? shared : undefined;
	} catch (error) {
		if (error instanceof Nonsense || error instanceof SyntaxError) {
			return undefined;
		}

		throw error;
	}
}

/** Masks secrets in a command line and shortens it. Masks first, because a secret that is cut in half cannot be recognized. */
const cut = (line: string | undefined): string | undefined =>
	line === undefined ? undefined : maskSecrets(line).slice(0, longestCommand);

const shorter = (shared: SharedScan, shorten: (one: GpuProcess) => GpuProcess): SharedScan => ({
	...shared,
	gpus: shared.gpus.map((one) => ({...one, processes: one.processes?.map((each) => shorten(each))})),
});

/** Encodes a scan, if necessary without command lines. Returns undefined if the scan is still too long. */
export function encodeSharedScan({
	takenAtMs,
	lacksKernelLog,
	isPosted,
	...observation
}: Observation): string | undefined {
	const withCut = (): SharedScan =>
		shorter(observation, (one) => ({
			...one,
			commandLine: cut(one.commandLine),
			ancestors: one.ancestors?.map((line) => cut(line)!),
		}));
	const withNone = (): SharedScan =>
		shorter(observation, (one) => ({...one, commandLine: undefined, ancestors: undefined}));
	for (const make of [withCut, withNone]) {
		const posted = JSON.stringify({version, scan: make()});
		if (posted.length <= longestScan) {
			return posted;
		}
	}

	return undefined;
}
