/**
Settings: flags > environment > files > defaults.
*/
import {closest} from 'fastest-levenshtein';
import {
	checkSetting,
	checkText,
	isSettingPath,
	settingPaths,
	settings,
	type SettingPath,
	type SettingValue,
} from './config-schema.js';
import {readConfigFiles, type ConfigFile} from './config-files.js';
import {CanhazgpuError} from './errors.js';

export type Config = {
	/** The value that counts; durations in seconds. Undefined when nothing gives one and there is no default. */
	readonly get: <Path extends SettingPath>(path: Path) => SettingValue<Path> | undefined;
	/** True when a flag, the environment or a file gives it. */
	readonly isGiven: (path: SettingPath) => boolean;
	/** Unknown keys and the like: worth a line on stderr. */
	readonly warnings: readonly string[];
};

export type ConfigSources = {
	/** Texts of flags, by the setting they stand for, with the flag's name for messages. */
	readonly flags: ReadonlyMap<SettingPath, {readonly text: string; readonly name: string}>;
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** `--config`. */
	readonly file?: string;
};

/** Keys that JavaScript itself gives a meaning to. */
const reserved = new Set(['__proto__', 'constructor', 'prototype']);

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** Numbers that YAML and TOML know and nobody means, shown as they were written. */
const show = (value: unknown): string =>
	typeof value === 'number' || typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? String(value));

const isSecret = (path: SettingPath): boolean => path === 'redis.password' || path === 'redis.url';

/**
`{redis: {port: 1}}` -> `redis.port`, 1. Maps below a known setting are left whole, to be refused as a wrong type.

@yields A path and its value.
*/
function* leavesOf(value: Record<string, unknown>, file: string, prefix = ''): Generator<readonly [string, unknown]> {
	for (const [key, inner] of Object.entries(value)) {
		if (reserved.has(key)) {
			throw new CanhazgpuError('config', `${file}: the key ${prefix}${key} is not allowed`, {hint: 'Remove it.'});
		}

		const path = `${prefix}${key}`;
		if (isPlainObject(inner) && !isSettingPath(path)) {
			yield* leavesOf(inner, file, `${path}.`);
		} else {
			yield [path, inner];
		}
	}
}

/** Settings by which programs are run, or addresses told what goes on here. */
const isFarReaching = (path: SettingPath): boolean => path === 'notify.command' || path === 'notify.webhook';

function readFile({file, content, isForeign}: ConfigFile, values: Map<SettingPath, unknown>, warnings: string[]): void {
	// An empty file, or one of comments alone.
	if (content === null || content === undefined) {
		return;
	}

	if (!isPlainObject(content)) {
		throw new CanhazgpuError(
			'config',
			`${file}: expected settings by name, not ${Array.isArray(content) ? 'a list' : 'a single value'}`,
			{
				hint: 'Write them as, for example, redis: {host: localhost}.',
			},
		);
	}

	for (const [path, raw] of leavesOf(content, file)) {
		if (!isSettingPath(path)) {
			warnings.push(`${file}: unknown setting ${path}. Did you mean ${closest(path, settingPaths)}?`);
			continue;
		}

		if (isForeign && isFarReaching(path)) {
			warnings.push(`${file}: ${path} counts only in your own config file or in /etc/canhazgpu.yaml`);
			continue;
		}

		// The peer's files may leave a key empty: that is the same as leaving it out.
		if (raw === null) {
			continue;
		}

		const checked = checkSetting(path, raw);
		if ('expected' in checked) {
			throw new CanhazgpuError(
				'config',
				`${file}: ${path} must be ${checked.expected}${isSecret(path) ? '' : `, not ${show(raw)}`}`,
				{hint: checked.hint ?? 'Mend the file, or name another with --config.'},
			);
		}

		values.set(path, checked.value);
	}
}

const environmentName = (path: SettingPath): string => `CANHAZGPU_${path.toUpperCase().replaceAll('.', '_')}`;

/**
Reads and checks everything that is given, wherever it is given.

@throws CanhazgpuError `config` or `usage` that names the file, variable or flag, the key, and what was expected.
*/
export async function loadConfig({flags, environment, file}: ConfigSources): Promise<Config> {
	const warnings: string[] = [];
	const values = new Map<SettingPath, unknown>();
	for (const found of await readConfigFiles(file ?? environment['CANHAZGPU_CONFIG'])) {
		readFile(found, values, warnings);
	}

	const set = (path: SettingPath, text: string, name: string, code: 'config' | 'usage'): void => {
		const checked = checkText(path, text);
		if ('expected' in checked) {
			const given = isSecret(path) ? '' : `, not ${JSON.stringify(text)}`;
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
		set(path, text, name, 'usage');
	}

	return {
		get<Path extends SettingPath>(path: Path) {
			const {fallback} = settings[path];
			if (fallback === undefined || values.has(path)) {
				return values.get(path) as SettingValue<Path> | undefined;
			}

			// Defaults go through the same check: a duration becomes seconds.
			const checked = checkSetting(path, fallback);
			return 'value' in checked ? checked.value : undefined;
		},
		isGiven: (path) => values.has(path),
		warnings,
	};
}
