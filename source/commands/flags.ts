/** Reading the values of flags that are no settings, and the flags that several verbs share. */
import {CanhazgpuError} from '../errors.js';
import {sanitize} from '../format/text.js';
import type {Flag, Flags, Input} from './command.js';

/** Those of every verb. */
export const globalFlags: Flags = {
	config: {value: 'FILE', summary: 'read this config file and no other'},
	'redis-host': {value: 'HOST', summary: 'Redis host (localhost)', setting: 'redis.host'},
	'redis-port': {value: 'PORT', summary: 'Redis port (6379)', setting: 'redis.port'},
	'redis-db': {value: 'N', summary: 'Redis database (0)', setting: 'redis.db'},
	store: {value: 'STORE', summary: 'redis or embedded', setting: 'store'},
	'memory-threshold': {
		value: 'MB',
		summary: 'a GPU with more memory used than this is in use (1024)',
		setting: 'memory.threshold',
	},
	'no-color': {summary: 'no colours'},
	help: {short: 'h', summary: 'show this help'},
	version: {summary: 'show the version'},
};

export const jsonFlag: Flag = {short: 'j', summary: 'print JSON'};

export const idsFlag: Flag = {short: 'G', value: 'IDS', summary: 'these GPUs, such as 1,3'};

/**
@returns GPU ids such as `1,3`, in the order they were typed.
@throws CanhazgpuError `usage` naming what is no id.
*/
export function idsOf(input: Input, flag = 'gpu-ids'): readonly number[] | undefined {
	const text = input.text(flag);
	return text?.split(',').map((part) => {
		const trimmed = part.trim();
		if (!/^\d{1,9}$/v.test(trimmed)) {
			throw new CanhazgpuError('usage', `--${flag}: ${JSON.stringify(trimmed)} is not a GPU id`, {
				hint: `Write ids with commas between them: --${flag} 1,3`,
			});
		}

		return Number(trimmed);
	});
}

const longestLabel = 64;

/** @throws CanhazgpuError `usage` for a label that is empty, too long, or holds what no name does. */
export function checkLabel(label: string | undefined): string | undefined {
	if (label === undefined) {
		return undefined;
	}

	const harmless = sanitize(label);
	if (harmless === '' || harmless !== label.trim() || harmless.length > longestLabel) {
		throw new CanhazgpuError('usage', `--user: ${JSON.stringify(label)} cannot be a name`, {
			hint: `Use 1 to ${longestLabel} letters, digits or signs.`,
		});
	}

	return harmless;
}
