/** Reads scenarios of simulated GPUs from YAML. `canhazgpu help configuration` shows an example. */
import * as v from 'valibot';
import {parseDuration} from '../core/rules/leases/durations.js';
import {longestNote} from '../core/rules/request/request.js';
import {CanhazgpuError} from '../errors.js';
import type {GpuLink} from '../core/model/types.js';
import type {Scenario} from '../gpu/simulated/scenario.js';
import {readSafely} from '../security/safe-file.js';
import {mostGpus} from '../core/model/observation.js';

const text = v.pipe(v.string('a text'), v.trim(), v.minLength(1, 'text that is not empty'));

const amount = (minimum: number, maximum: number, unit: string) => {
	const what = `a number from ${minimum} to ${maximum}${unit}`;
	return v.pipe(v.number(what), v.minValue(minimum, what), v.maxValue(maximum, what));
};

const whole = (minimum: number, maximum: number) => {
	const what = `a whole number from ${minimum} to ${maximum}`;
	return v.pipe(v.number(what), v.safeInteger(what), v.minValue(minimum, what), v.maxValue(maximum, what));
};

const time = (() => {
	const what = 'a duration such as 90s or 1h30m';
	return v.union(
		[
			amount(0, 1e9, ' (seconds)'),
			v.pipe(
				v.string(what),
				v.check((typed) => isDuration(typed), what),
				v.transform((typed) => parseDuration(typed, '')),
			),
		],
		what,
	);
})();

function isDuration(typed: string): boolean {
	try {
		parseDuration(typed, 'it');
		return true;
	} catch {
		return false;
	}
}

const gpu = whole(0, mostGpus - 1);
const span = {from: v.optional(time), until: v.optional(time), every: v.optional(time)};
const listOf = <Entries extends v.ObjectEntries>(entries: Entries) =>
	v.optional(v.array(v.strictObject(entries, 'a map'), 'a list'));

const gpus = v.pipe(v.array(gpu, 'a list of GPUs'), v.minLength(1, 'a list of GPUs'));

const link = () => {
	const what = 'one of NV1 to NV36, XGMI, PIX, PXB, PHB, NODE, SYS';
	return v.custom<GpuLink>(
		(typed) => typeof typed === 'string' && /^(?:NV(?:[1-9]|[12]\d|3[0-6])|XGMI|PIX|PXB|PHB|NODE|SYS)$/v.test(typed),
		what,
	);
};

const readings = [
	'memoryUsedMiB',
	'memoryTotalMiB',
	'utilizationPercent',
	'temperatureCelsius',
	'name',
	'computeCapability',
	'powerWatts',
	'powerLimitWatts',
] as const;

const schema = v.strictObject(
	{
		gpus: v.optional(whole(1, mostGpus)),
		policy: v.optional(v.record(text, text, 'a map of keys and values')),
		seed: v.optional(whole(1, 1_000_000_000)),
		model: v.optional(text),
		memory: v.optional(whole(2000, 10_000_000)),
		hardware: listOf({
			gpus,
			model: v.optional(text),
			memory: v.optional(whole(2000, 10_000_000)),
			compute: v.optional(
				v.pipe(
					v.string('text in quotes, such as "8.0"'),
					v.regex(/^\d{1,3}\.\d{1,3}$/v, 'text in quotes, such as "8.0"'),
				),
			),
			numa: v.optional(whole(0, 1023)),
			root: v.optional(text),
		}),
		links: listOf({gpus, link: link()}),
		processes: listOf({
			gpu,
			...span,
			user: v.optional(text),
			command: text,
			pid: v.optional(whole(1, 2_147_483_647)),
			memory: amount(0, 10_000_000, ' (MiB)'),
			utilization: v.optional(amount(0, 100, ' (per cent)')),
			container: v.optional(text),
			instance: v.optional(whole(0, 15)),
		}),
		failures: listOf({gpu, ...span, words: text}),
		health: listOf({
			gpu,
			...span,
			kind: v.picklist(
				['ecc', 'xid', 'needs-reset', 'fell-off-the-bus', 'temperature'],
				'one of ecc, xid, needs-reset, fell-off-the-bus, temperature',
			),
			words: text,
		}),
		hidden: listOf({gpu, ...span}),
		unknown: listOf({
			gpu,
			...span,
			readings: v.array(v.picklist(readings, `one of ${readings.join(', ')}`), 'a list'),
			word: v.optional(text),
		}),
		mig: listOf({
			gpu,
			...span,
			profiles: v.array(text, 'a list'),
			mode: v.optional(v.picklist(['unknown', 'pending'], 'unknown or pending')),
		}),
		scans: listOf({...span, failure: text}),
		devices: v.optional(v.pipe(text, v.startsWith('/', 'the full path of a directory'))),
		people: listOf({
			user: text,
			gpus: v.optional(whole(1, mostGpus)),
			ids: v.optional(v.array(gpu, 'a list of GPUs')),
			share: v.optional(whole(1, 10_000_000)),
			kind: v.optional(v.picklist(['run', 'manual'], 'run or manual')),
			hold: v.optional(time),
			pause: v.optional(time),
			limit: v.optional(time),
			note: v.optional(v.pipe(text, v.maxLength(longestNote, `text of at most ${longestNote} characters`))),
			command: v.optional(text),
			since: v.optional(time),
			waits: v.optional(time),
			idle: v.optional(time),
			back: v.optional(time),
		}),
	},
	'a map of keys such as processes or failures',
);

const refuse = (file: string, problem: string, cause?: unknown): CanhazgpuError =>
	new CanhazgpuError('config', `The scenario ${file}: ${problem}`, {
		hint: 'Fix the file, or leave out simulated.scenario.',
		cause,
	});

function problemOf(issue: v.InferIssue<typeof schema>): string {
	const where = v.getDotPath(issue) ?? '';
	if (issue.kind === 'schema' && issue.type === 'strict_object' && issue.expected === 'never') {
		return `unknown key ${where}`;
	}

	if (issue.received === 'undefined') {
		return `${where} is missing`;
	}

	return where === '' ? `expected ${issue.message}` : `${where} must be ${issue.message}, not ${issue.received}`;
}

export function checkScenario(content: unknown, file: string): Scenario {
	if (Array.isArray(content)) {
		throw refuse(file, 'expected a map of keys such as processes or failures');
	}

	const result = v.safeParse(schema, content ?? {});
	if (!result.success) {
		throw refuse(file, problemOf(result.issues[0]));
	}

	return result.output;
}

const longestBytes = 1_048_576;

export async function loadScenario(file: string): Promise<Scenario> {
	const read = readSafely(file, {longestBytes, followsLinks: true});
	if (read.kind !== 'read') {
		throw refuse(file, `it cannot be read: ${read.kind === 'absent' ? 'there is no such file' : read.problem}`);
	}

	const {parseYaml, YamlProblem} = await import('../config/yaml.js');
	let content: unknown;
	try {
		content = parseYaml(read.text);
	} catch (error) {
		throw error instanceof YamlProblem ? refuse(file, `it is not valid YAML, ${error.message}`, error) : error;
	}

	return checkScenario(content, file);
}
