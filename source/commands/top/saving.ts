import type {Config} from '../../config/config.js';
import type {SavedSettings} from '../../config/save.js';
import {settings, type SettingPath} from '../../config/schema.js';
import {intervalText} from '../../format/text/durations.js';
import type {OptionValues, SaveOptions, SaveView} from '../../tui/ports.js';
import {namingReplaced} from './replaced.js';

async function save(values: SavedSettings, configFile: string | undefined) {
	const {saveSettings} = await namingReplaced(async () => import('../../config/save.js'));
	return saveSettings(values, configFile);
}

/** Returns a function that saves how the monitor's table is shown. A default value removes its setting from the file. */
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

const paths = {
	theme: 'top.theme',
	scanIntervalMs: 'top.interval',
	graphs: 'top.graphs',
	isMouseOn: 'top.mouse',
	preset: 'top.preset',
	columns: 'top.columns',
} as const satisfies Readonly<Record<keyof OptionValues, SettingPath>>;

const writtenValue = (options: Partial<OptionValues>, name: keyof OptionValues): unknown =>
	name === 'scanIntervalMs' ? intervalText(options.scanIntervalMs!) : options[name];

/** Returns a function that saves options. Removes the setting for a default value, unless a file, a variable or a flag sets the option. */
export const optionsSaver =
	(configFile: string | undefined, {isGiven}: Pick<Config, 'isGiven'>, environment: NodeJS.ProcessEnv): SaveOptions =>
	async (options) => {
		const {isInGnuScreen} = await namingReplaced(async () => import('../../tui/terminal.js'));
		const isUsual = (path: SettingPath, value: unknown): boolean =>
			value === (path === 'top.mouse' ? !isInGnuScreen(environment) : settings[path].fallback);
		const names = Object.keys(options) as ReadonlyArray<keyof OptionValues>;
		const values: SavedSettings = new Map(
			names.map((name) => {
				const path = paths[name];
				const value = writtenValue(options, name);
				return [path, isUsual(path, value) && !isGiven(path) ? undefined : value];
			}),
		);
		return save(values, configFile);
	};
