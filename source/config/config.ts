/** Resolves settings: flags override the environment, the environment overrides files, and files override defaults. */
import {closest} from 'fastest-levenshtein';
import {CanhazgpuError, cutShort, quoted} from '../errors.js';
import {
	checkSetting,
	checkText,
	isSettingPath,
	settingPaths,
	settings,
	type SettingPath,
	type SettingValue,
} from './schema.js';
import {readConfigFiles, type ConfigFile, type ConfigLocations} from './files.js';

export type Config = {
	/** The effective value. Durations are in seconds. Undefined if nothing sets a value and there is no default. */
	readonly get: <Path extends SettingPath>(path: Path) => SettingValue<Path> | undefined;
	/** Whether a flag, the environment or a file sets the value. */
	readonly isGiven: (path: SettingPath) => boolean;
	/** Warnings for stderr, such as unknown keys. */
	readonly warnings: readonly string[];
};

export type ConfigSources = {
	/** The values of flags as typed, by setting. `name` is the flag's name for messages. */
	readonly flags: ReadonlyMap<SettingPath, {readonly text: string; readonly name: string}>;
	readonly environment: Readonly<Record<string, string | undefined>>;
	readonly file?: string;
} & Omit<ConfigLocations, 'named'>;

/** Property names with a special meaning in JavaScript, which must not be used as keys. */
const reserved = new Set(['__proto__', 'constructor', 'prototype']);

export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** Formats an invalid value for a message. Keeps numbers such as NaN that JSON does not support, and shortens long or circular values. */
function show(value: unknown): string {
	if (typeof value === 'number' || typeof value === 'bigint') {
		return String(value);
	}

	try {
		return cutShort(JSON.stringify(value) ?? String(value));
	} catch {
		return Array.isArray(value) ? 'a list' : 'a map';
	}
}

const isSecret = (path: SettingPath): boolean => settings[path].isSecret;

/** Limits for config files. No valid file has as many levels or keys. */
const deepest = 8;
const mostKeys = 1000;

const tooMuch = (file: string, problem: string): CanhazgpuError =>
	new CanhazgpuError('config', `Cannot read the config file ${file}: ${problem}`, {
		hint: 'Fix the file, or name another with --config.',
	});

/**
Flattens nested maps: `{redis: {port: 1}}` becomes `redis.port`, 1. A map in place of a value is kept as a map, and is refused later.

@yields Each path with its value.
*/
function* leavesOf(
	value: Record<string, unknown>,
	file: string,
	prefix = '',
	level = 1,
): Generator<readonly [string, unknown]> {
	// An alias in YAML can be circular.
	if (level > deepest) {
		throw tooMuch(file, 'it is nested too deeply');
	}

	for (const [key, inner] of Object.entries(value)) {
		if (reserved.has(key)) {
			throw new CanhazgpuError('config', `${file}: the key ${prefix}${key} is not allowed`, {hint: 'Remove it.'});
		}

		const path = `${prefix}${key}`;
		if (isPlainObject(inner) && !isSettingPath(path)) {
			yield* leavesOf(inner, file, `${path}.`, level + 1);
		} else {
			yield [path, inner];
		}
	}
}

/** The longest key that may be a misspelled setting. A longer key would be slow to compare. */
const longestKey = 60;

const suggestion = (path: string): string =>
	path.length > longestKey
		? `${path.slice(0, longestKey)}...`
		: `${path}. Did you mean ${closest(path, settingPaths)}?`;

/** The number of problems of each kind that are listed. For the remaining problems, only their number is shown. */
const mostNamed = 5;

const others = (count: number): string => (count > mostNamed ? ` and ${count - mostNamed} more` : '');

/** Returns a warning for each unknown key, and one warning for all keys that have no effect in this file. */
const warningsOf = (file: string, unknown: readonly string[], held: readonly string[]): readonly string[] => [
	...unknown.slice(0, mostNamed).map((path) => `${file}: unknown setting ${suggestion(path)}`),
	...(unknown.length > mostNamed ? [`${file}:${others(unknown.length)} unknown settings`] : []),
	...(held.length > 0
		? [
				`${file}: ${held.slice(0, mostNamed).join(', ')}${others(held.length)} ${held.length === 1 ? 'counts' : 'count'} only in your own config file or in /etc/canhazgpu.yaml`,
			]
		: []),
];

/** Returns the error for a file or section that is not a map. Its message omits the value, which can be a Redis URL with a password. */
const noMap = (where: string, value: unknown): CanhazgpuError =>
	new CanhazgpuError('config', `${where} settings by name, not ${Array.isArray(value) ? 'a list' : 'a single value'}`, {
		hint: 'Write them as, for example, redis: {host: localhost}.',
	});

const isSection = (path: string): boolean => settingPaths.some((setting) => setting.startsWith(`${path}.`));

function readFile({file, content, isLocal}: ConfigFile, values: Map<SettingPath, unknown>, warnings: string[]): void {
	// The file is empty or contains only comments.
	if (content === null || content === undefined) {
		return;
	}

	if (!isPlainObject(content)) {
		throw noMap(`${file}: expected`, content);
	}

	const unknown: string[] = [];
	const held: string[] = [];
	let count = 0;
	for (const [path, raw] of leavesOf(content, file)) {
		count++;
		if (count > mostKeys) {
			throw tooMuch(file, `it holds more than ${mostKeys} settings`);
		}

		// In files of the Go program, an empty value such as `run.timeout: ""` means that the key is not set.
		const isEmpty = raw === null || raw === '';
		if (!isSettingPath(path)) {
			if (!isSection(path)) {
				unknown.push(path);
			} else if (!isEmpty) {
				throw noMap(`${file}: ${path} must be`, raw);
			}

			continue;
		}

		if (isLocal && !settings[path].isHarmless) {
			held.push(path);
			continue;
		}

		if (isEmpty) {
			continue;
		}

		const checked = checkSetting(path, raw);
		if ('expected' in checked) {
			throw new CanhazgpuError(
				'config',
				`${file}: ${path} must be ${checked.expected}${isSecret(path) ? '' : `, not ${show(raw)}`}`,
				{hint: checked.hint ?? 'Fix the file, or name another with --config.'},
			);
		}

		values.set(path, checked.value);
	}

	warnings.push(...warningsOf(file, unknown, held));
}

export const environmentName = (path: SettingPath): string =>
	// eslint-disable-next-line unicorn/prefer-single-replace -- a regular expression for all settings would take 0.3 ms of each start
	`CANHAZGPU_${path.toUpperCase().replaceAll('.', '_').replaceAll('-', '_')}`;

/** Returns the file named by `--config`, or else by `CANHAZGPU_CONFIG`. An empty variable is treated as unset. */
export function namedFile(typed: string | undefined, environment: ConfigSources['environment']): string | undefined {
	const given = environment['CANHAZGPU_CONFIG'];
	return typed ?? (given === '' ? undefined : given);
}

/** Reads and checks all settings that are given. Throws a `config` or `usage` error. Its message names the key, its source (file, variable or flag), and what was expected. */
export async function loadConfig({flags, environment, file, ...locations}: ConfigSources): Promise<Config> {
	const values = new Map<SettingPath, unknown>();
	const {files, warnings: passedOver} = await readConfigFiles({
		...locations,
		named: namedFile(file, environment),
	});
	const warnings = [...passedOver];
	for (const found of files) {
		readFile(found, values, warnings);
	}

	const set = (path: SettingPath, text: string, name: string, code: 'config' | 'usage'): void => {
		const checked = checkText(path, text);
		if ('expected' in checked) {
			const given = isSecret(path) ? '' : `, not ${quoted(text)}`;
			throw new CanhazgpuError(code, `${name} must be ${checked.expected}${given}`, {hint: checked.hint});
		}

		values.set(path, checked.value);
	};

	for (const path of settingPaths) {
		const name = environmentName(path);
		const text = environment[name];
		if (text !== undefined && text !== '') {
			set(path, text, name, 'config');
		}
	}

	for (const [path, {text, name}] of flags) {
		if (text === '') {
			// A flag with an empty value removes the value that a file sets.
			values.delete(path);
		} else {
			set(path, text, name, 'usage');
		}
	}

	return {
		get<Path extends SettingPath>(path: Path) {
			const {fallback} = settings[path];
			if (fallback === undefined || values.has(path)) {
				return values.get(path) as SettingValue<Path> | undefined;
			}

			// Defaults are also checked, because the check converts durations to seconds.
			const checked = checkSetting(path, fallback);
			return 'value' in checked ? checked.value : undefined;
		},
		isGiven: (path) => values.has(path),
		warnings,
	};
}
