/** Saves settings of the monitor in the user's config file. */
import type {Config} from '../../config/config.js';
import type {SavedSettings} from '../../config/save.js';
import type {SettingPath} from '../../config/schema.js';
import {intervalText} from '../../format/text/durations.js';
import type {OptionValues, SaveOptions, SaveView} from '../../tui/ports.js';
import {isInGnuScreen} from '../../tui/terminal.js';
import {namingReplaced} from './replaced.js';

async function save(values: SavedSettings, configFile: string | undefined) {
	const {saveSettings} = await namingReplaced(async () => import('../../config/save.js'));
	return saveSettings(values, configFile);
}

/** A default value removes the setting from the file. */
export const viewSaver =
	(configFile: string | undefined): SaveView =>
	async ({preset, columns, isFolded}) =>
		save(
			new Map<SettingPath, unknown>([
				['top.preset', preset === 'default' ? undefined : preset],
				['top.columns', columns],
				['top.fold', isFolded],
			]),
			configFile,
		);

type Setting<Value> = {
	readonly path: SettingPath;
	/** The value in a file. Defaults to the option itself. */
	readonly written?: (value: Value) => unknown;
	/** The option of a monitor without this setting. */
	readonly usual: unknown;
};

const settingsOf = (environment: NodeJS.ProcessEnv): {readonly [Name in keyof OptionValues]: Setting<OptionValues[Name]>} => ({
	theme: {path: 'top.theme', usual: 'auto'},
	scanIntervalMs: {path: 'top.interval', written: intervalText, usual: 2000},
	graphs: {path: 'top.graphs', usual: 'braille'},
	isMouseOn: {path: 'top.mouse', usual: !isInGnuScreen(environment)},
	preset: {path: 'top.preset', usual: 'default'},
	columns: {path: 'top.columns', usual: undefined},
});

/** A default value removes the setting from the file, unless the configuration has the setting: then it can come from another file. */
export const optionsSaver =
	(
		configFile: string | undefined,
		{isGiven}: Pick<Config, 'isGiven'>,
		environment: NodeJS.ProcessEnv,
	): SaveOptions =>
	async (options) => {
		const settings = settingsOf(environment);
		const entryOf = <Name extends keyof OptionValues>(name: Name): readonly [SettingPath, unknown] => {
			const {path, written = (value) => value, usual} = settings[name];
			const value = options[name] as OptionValues[Name];
			return [path, value === usual && (value === undefined || !isGiven(path)) ? undefined : written(value)];
		};

		const names = Object.keys(options) as ReadonlyArray<keyof OptionValues>;
		return save(new Map(names.map((name) => entryOf(name))), configFile);
	};
