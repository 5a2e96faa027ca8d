import {closest} from 'fastest-levenshtein';
import {CanhazgpuError, cutShort} from '../errors.js';
import {hasUrl, type Target} from '../core/rules/notices/targets.js';
import {usualRootFile, type ConfigFile} from './files.js';
import {checkSetting, isSettingPath, settingPaths, settings, type SettingPath} from './schema.js';

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

export const isSecret = (path: SettingPath): boolean => settings[path].isSecret;

/** Maximum depth and number of keys of a config file. No valid file needs more. */
const deepest = 8;
const mostKeys = 1000;

const tooMuch = (file: string, problem: string): CanhazgpuError =>
	new CanhazgpuError('config', `Cannot read the config file ${file}: ${problem}`, {
		hint: 'Fix the file, or name another with --config.',
	});

/**
Flattens nested maps: `{redis: {port: 1}}` becomes `redis.port`, 1. If the value of a setting is a map, keeps the map. Only `top.keys` accepts one.

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

/** The longest key that is compared with the names of the settings. Longer keys would be slow to compare. */
const longestKey = 60;

const suggestion = (path: string): string =>
	path.length > longestKey
		? `${path.slice(0, longestKey)}...`
		: `${path}. Did you mean ${closest(path, settingPaths)}?`;

/** Removes the URL, which can be a secret, from a key such as `notify.slack:https://...`. A list in wrong brackets causes such keys. */
const withoutUrl = (path: string): string => path.replace(/:\/\/.*$/sv, '://...');

/** Maximum number of problems of each kind that a message lists. If there are more, it says only how many. */
const mostNamed = 5;

const others = (count: number): string => (count > mostNamed ? ` and ${count - mostNamed} more` : '');

const warningsOf = (
	{file, kind}: ConfigFile,
	unknown: readonly string[],
	held: readonly string[],
): readonly string[] => [
	...unknown.slice(0, mostNamed).map((path) => `${file}: unknown setting ${suggestion(withoutUrl(path))}`),
	...(unknown.length > mostNamed ? [`${file}:${others(unknown.length)} unknown settings`] : []),
	...(held.length > 0
		? [
				`${file}: ${held.slice(0, mostNamed).join(', ')}${others(held.length)} ${held.length === 1 ? 'is' : 'are'} ignored in this file, and allowed only in ${kind === 'root' ? '/etc/canhazgpu.yaml, which everybody can read' : 'your own config file or in /etc/canhazgpu.yaml'}`,
			]
		: []),
];

/** Returns the error for a file or section that is not a map. Its message omits the value, which can be a Redis URL with a password. */
const noMap = (where: string, value: unknown): CanhazgpuError =>
	new CanhazgpuError(
		'config',
		`${where} a map of settings, not ${Array.isArray(value) ? 'a list' : 'a single value'}`,
		{
			hint: 'Write them as, for example, redis: {host: localhost}.',
		},
	);

const isSection = (path: string): boolean => settingPaths.some((setting) => setting.startsWith(`${path}.`));

function requireUnexposed({file, kind, isExposed}: ConfigFile, path: SettingPath, value: unknown): void {
	if (isExposed && path === 'notify.to' && hasUrl(value as readonly Target[])) {
		throw new CanhazgpuError(
			'config',
			`${file}: notify.to contains a URL, which is a secret, but others can read the file`,
			{
				hint:
					kind === 'machine'
						? `Move notify.to to ${usualRootFile}, which only root can read. See: canhazgpu help notifications`
						: `Make it readable only by you: chmod 600 ${file}`,
			},
		);
	}
}

/** Whether a file of this kind can set a setting. Root's own file sets only `notify.*`, so that it cannot direct root to another pool. */
const counts = (kind: ConfigFile['kind'], path: SettingPath): boolean =>
	kind === 'local' ? settings[path].isHarmless : kind !== 'root' || path.startsWith('notify.');

/** Adds the settings of a file to `values`. Throws `config` for an invalid setting. */
export function readSettings(source: ConfigFile, values: Map<SettingPath, unknown>, warnings: string[]): void {
	const {file, content, kind} = source;
	// The file is empty or contains only comments.
	if (content === null || content === undefined) {
		return;
	}

	if (!isPlainObject(content)) {
		throw noMap(`${file} must be`, content);
	}

	const unknown: string[] = [];
	const held: string[] = [];
	let count = 0;
	for (const [path, raw] of leavesOf(content, file)) {
		count++;
		if (count > mostKeys) {
			throw tooMuch(file, `it has more than ${mostKeys} settings`);
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

		if (!counts(kind, path)) {
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

		requireUnexposed(source, path, checked.value);
		values.set(path, checked.value);
	}

	warnings.push(...warningsOf(source, unknown, held));
}
