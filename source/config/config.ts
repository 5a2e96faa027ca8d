/** Resolves settings: flags override the environment, the environment overrides files, and files override defaults. */
import {CanhazgpuError, quoted} from '../errors.js';
import {checkSetting, checkText, settingPaths, settings, type SettingPath, type SettingValue} from './schema.js';
import {isSecret, readSettings} from './file-settings.js';
import {readConfigFiles, type ConfigLocations} from './files.js';

export type Config = {
	/** The effective value. Durations are in seconds. Undefined if nothing sets a value and there is no default. */
	readonly get: <Path extends SettingPath>(path: Path) => SettingValue<Path> | undefined;
	/** Whether a flag, the environment or a file sets the value. */
	readonly isGiven: (path: SettingPath) => boolean;
	/** Returns the value from files of the machine, or the default. Used when this process acts for other accounts. */
	readonly getForOthers: Config['get'];
	readonly warnings: readonly string[];
};

export type ConfigSources = {
	/** The values of flags as typed, by setting. `name` is the flag's name for messages. */
	readonly flags: ReadonlyMap<SettingPath, {readonly text: string; readonly name: string}>;
	readonly environment: Readonly<Record<string, string | undefined>>;
	readonly file?: string;
} & Omit<ConfigLocations, 'named'>;

export const environmentName = (path: SettingPath): string =>
	// eslint-disable-next-line unicorn/prefer-single-replace -- a regular expression for all settings would take 0.3 ms of each start
	`CANHAZGPU_${path.toUpperCase().replaceAll('.', '_').replaceAll('-', '_')}`;

export function namedFile(typed: string | undefined, environment: ConfigSources['environment']): string | undefined {
	const given = environment['CANHAZGPU_CONFIG'];
	return typed ?? (given === '' ? undefined : given);
}

/** Reads and checks all settings that are given. Throws `config` or `usage`, and names the key, its file, variable or flag, and what was expected. */
export async function loadConfig({flags, environment, file, ...locations}: ConfigSources): Promise<Config> {
	const values = new Map<SettingPath, unknown>();
	const {files, warnings: passedOver} = await readConfigFiles({
		...locations,
		named: namedFile(file, environment),
	});
	const warnings = [...passedOver];
	let valuesForOthers: ReadonlyMap<SettingPath, unknown> = new Map();
	for (const found of files) {
		readSettings(found, values, warnings);
		// The machine's files come first, so `values` has no settings from other files yet.
		if (found.kind === 'machine' || found.kind === 'root') {
			valuesForOthers = new Map(values);
		}
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

	const getterOf =
		(given: ReadonlyMap<SettingPath, unknown>): Config['get'] =>
		<Path extends SettingPath>(path: Path) => {
			const {fallback} = settings[path];
			if (fallback === undefined || given.has(path)) {
				return given.get(path) as SettingValue<Path> | undefined;
			}

			// Defaults are also checked, because the check converts durations to seconds.
			const checked = checkSetting(path, fallback);
			return 'value' in checked ? checked.value : undefined;
		};

	return {
		get: getterOf(values),
		getForOthers: getterOf(valuesForOthers),
		isGiven: (path) => values.has(path),
		warnings,
	};
}
