/** Writes settings to the user's config file when the user asks for it. Keeps everything else in the file, including comments. */
import {randomUUID} from 'node:crypto';
import {chmodSync, realpathSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import type {Document} from 'yaml';
import {CanhazgpuError} from '../errors.js';
import {isPlainObject} from './file-settings.js';
import {ownConfigFile, parse} from './files.js';
import type {SettingPath} from './schema.js';

/** Settings with their values as written in a file. The value undefined removes a setting from the file. */
export type SavedSettings = ReadonlyMap<SettingPath, unknown>;

const refuse = (file: string, problem: string, hint: string, cause?: unknown): CanhazgpuError =>
	new CanhazgpuError('config', `Cannot write the config file ${file}: ${problem}`, {hint, cause});

/** Returns the value of a setting in a parsed file. The setting can be under its full name or inside nested maps. */
function valueIn(content: unknown, setting: SettingPath): unknown {
	if (!isPlainObject(content) || Object.hasOwn(content, setting)) {
		return isPlainObject(content) ? content[setting] : undefined;
	}

	const [first = '', ...rest] = setting.split('.');
	return rest.length === 0 ? undefined : valueIn(content[first], rest.join('.') as SettingPath);
}

const saysAll = (content: unknown, values: SavedSettings): boolean =>
	values.entries().every(([setting, value]) => JSON.stringify(valueIn(content, setting)) === JSON.stringify(value));

async function withYaml(text: string, values: SavedSettings): Promise<string> {
	const {parseDocument, isMap, isScalar} = await import('yaml');
	const document: Document = parseDocument(text, {logLevel: 'silent'});
	/** Returns a map in place of a null, such as the value of `top:` alone. Keeps its comments, which can be settings that are commented out. */
	const mapFor = (node: unknown) => {
		const map = document.createNode({});
		if (isScalar(node)) {
			map.comment = node.comment;
			map.commentBefore = node.commentBefore;
			map.spaceBefore = node.spaceBefore;
		}

		return map;
	};

	if (isScalar(document.contents)) {
		document.contents = mapFor(document.contents);
	}

	for (const [setting, value] of values) {
		const keys = setting.split('.');
		const isDotted = document.contents !== null && document.has(setting);
		const parent = keys.slice(0, -1);
		if (!isDotted && parent.length > 0 && document.getIn(parent) === null) {
			document.setIn(parent, mapFor(document.getIn(parent, true)));
		}

		const keyPath = isDotted ? [setting] : keys;
		if (value === undefined) {
			if (document.hasIn(keyPath)) {
				document.deleteIn(keyPath);
			}
		} else {
			// Replacing only the value keeps the comment behind it.
			document.setIn(keyPath, typeof value === 'string' ? value : document.createNode(value, {flow: true}));
		}

		const holder = document.getIn(parent);
		if (parent.length > 0 && isMap(holder) && holder.items.length === 0 && (holder.comment ?? '') === '') {
			document.deleteIn(parent);
		}
	}

	return document.toString({lineWidth: 0});
}

function withJson(content: Record<string, unknown>, values: SavedSettings): string {
	for (const [setting, value] of values) {
		const [first = '', ...rest] = setting.split('.');
		const inner = rest.join('.');
		const holder = isPlainObject(content[first]) ? content[first] : undefined;
		if (Object.hasOwn(content, setting) || inner === '') {
			content[setting] = value;
		} else if (value !== undefined || holder !== undefined) {
			content[first] = {...holder, [inner]: value};
		}
	}

	return `${JSON.stringify(content, undefined, 2)}\n`;
}

async function changed(file: string, text: string, values: SavedSettings): Promise<string> {
	const content = (await parse(file, text)) ?? {};
	if (!isPlainObject(content)) {
		throw refuse(file, 'it is not a map of settings', 'Fix the file first.');
	}

	if (saysAll(content, values)) {
		return text;
	}

	switch (path.extname(file).toLowerCase()) {
		case '.json': {
			return withJson(content, values);
		}

		case '.toml': {
			const lines = values
				.entries()
				.filter(([, value]) => value !== undefined)
				.map(([setting, value]) => `${setting} = ${JSON.stringify(value)}`)
				.toArray();
			throw refuse(
				file,
				'canhazgpu cannot change TOML without losing the comments',
				`Add these lines yourself: ${lines.join(', ')}`,
			);
		}

		default: {
			return withYaml(text, values);
		}
	}
}

/**
Writes all values at once, or none of them.
@param named - The file of `--config`. By default, the user's own file, which is created if missing.
@returns The file, and whether it changed.
@throws CanhazgpuError `config` for an untrusted, unreadable or unwritable file.
*/
export async function saveSettings(
	values: SavedSettings,
	named: string | undefined,
): Promise<{readonly file: string; readonly isChanged: boolean}> {
	const {file, text, mode} = ownConfigFile(named);
	const next = await changed(file, text ?? '', values);
	if (next === (text ?? '')) {
		return {file, isChanged: false};
	}

	// If the file is a link, writes its target, because many users keep their config files in another directory.
	const target = text === undefined ? file : realpathSync(file);
	const temporary = `${target}.${randomUUID()}`;
	try {
		writeFileSync(temporary, next, {mode: 0o600, flag: 'wx'});
		if (mode !== undefined) {
			chmodSync(temporary, mode);
		}

		renameSync(temporary, target);
	} catch (error) {
		rmSync(temporary, {force: true});
		const {code = 'unknown error'} = error as NodeJS.ErrnoException;
		throw refuse(file, code, 'Make its directory writable for your account.', error);
	}

	return {file, isChanged: true};
}
