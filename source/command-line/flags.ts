/** Reading the values of flags that are no settings, and the flags that several verbs share. */
import {CanhazgpuError, quoted} from '../errors.js';
import {idWordsOf, isGpuId} from '../core/rules/request/gpu-ids.js';
import {characterCount, longestLabel} from '../core/rules/request/request.js';
import {parseInstanceName} from '../core/rules/mig/instances.js';
import type {NamedParts} from '../format/instances.js';
import {sanitize} from '../format/text/text.js';
import type {Flag, Flags, Input, KnownKind} from './command.js';

/** Those of every verb. */
export const globalFlags: Flags = {
	config: {value: 'FILE', summary: 'read this config file and no other', completes: 'files'},
	'redis-host': {value: 'HOST', summary: 'Redis host (localhost)', setting: 'redis.host'},
	'redis-port': {value: 'PORT', summary: 'Redis port (6379)', setting: 'redis.port'},
	'redis-db': {value: 'N', summary: 'Redis database (0)', setting: 'redis.db'},
	store: {value: 'STORE', summary: 'redis or embedded', setting: 'store'},
	engine: {value: 'NAME', summary: 'who grants the GPUs: local, or slurm', setting: 'engine'},
	'memory-threshold': {
		value: 'MB',
		summary: 'memory in use above which a GPU is in use (1024)',
		setting: 'memory.threshold',
	},
	'no-color': {summary: 'no colours'},
	help: {short: 'h', summary: 'show this help'},
	version: {short: 'v', summary: 'show the version'},
};

const valueText = (value: string | undefined, bare: string | undefined): string =>
	value === undefined ? '' : bare === undefined ? ` ${value}` : `[=${value}]`;

/** How each flag is typed, and what it means. */
export const flagRows = (flags: Flags): ReadonlyArray<readonly [typed: string, summary: string]> =>
	Object.entries(flags).map(([name, {short, value, bare, summary}]) => [
		`${short === undefined ? ' '.repeat(4) : `-${short}, `}--${name}${valueText(value, bare)}`,
		summary,
	]);

export const jsonFlag: Flag = {short: 'j', summary: 'print JSON'};

/** @param completes - Which GPUs it is likely about. */
export const idsFlag = (completes: KnownKind): Flag => ({
	short: 'G',
	value: 'IDS',
	summary: 'these GPUs, such as 1,3 or 0-3, or instances of MIG: 0:1',
	isList: true,
	completes,
});

/** Which reservations of a shared account are meant. */
export const labelFlag: Flag = {
	short: 'u',
	value: 'NAME',
	summary: 'those under this name, where people share an account',
	completes: 'labels',
	mayBeEmpty: true,
};

/** What people often type for a time; any other will do as well. */
export const usualDurations: readonly string[] = ['30m', '1h', '2h', '4h', '8h', '12h', '1d', '2d'];

/** @throws CanhazgpuError `usage` where both flags are typed. */
export function refuseBoth({has}: Pick<Input, 'has'>, one: string, other: string, hint?: string): void {
	if (has(one) && has(other)) {
		throw new CanhazgpuError('usage', `Give --${one} or --${other}, not both`, {hint});
	}
}

/** Where the verb stands: at the first word that is neither a flag nor the value of one. Behind all words, when there is none. */
export function verbPosition(words: readonly string[]): number {
	let index = 0;
	while (index < words.length && words[index]!.startsWith('-')) {
		const name = words[index]!.slice(2);
		const flag = Object.hasOwn(globalFlags, name) ? globalFlags[name] : undefined;
		index += flag?.value === undefined ? 1 : 2;
	}

	return Math.min(index, words.length);
}

function typedParts(input: Input, flag: string): readonly string[] | undefined {
	const text = input.text(flag);
	return text === undefined ? undefined : idWordsOf(text);
}

/**
@returns GPU ids such as `1,3` or `0-3`, in the order they were typed.
@throws CanhazgpuError `usage` naming what is no id.
*/
export function idsOf(input: Input, flag = 'gpu-ids'): readonly number[] | undefined {
	const parts = typedParts(input, flag);
	const wrong = parts?.find((part) => !isGpuId(part));
	if (wrong !== undefined) {
		throw notAnId(flag, wrong, parseInstanceName(wrong) === undefined ? '' : ', but names an instance of MIG');
	}

	return parts?.map(Number);
}

const notAnId = (flag: string, typed: string, besides = ''): CanhazgpuError =>
	new CanhazgpuError('usage', `--${flag}: ${quoted(typed)} is not a GPU id${besides}`, {
		hint: `Write ids with commas between them, or a range: --${flag} 1,3 or 0-3`,
	});

/**
@returns GPU ids such as `1,3` or `0-3` and instances such as `0:1`, in the order they were typed. Undefined without the flag.
@throws CanhazgpuError `usage` naming what is neither.
*/
export function namedPartsOf(input: Input, flag = 'gpu-ids'): NamedParts | undefined {
	const parts = typedParts(input, flag);
	const wrong = parts?.find((part) => !isGpuId(part) && parseInstanceName(part) === undefined);
	if (wrong !== undefined) {
		throw notAnId(flag, wrong, wrong.includes(':') ? ', nor an instance such as 0:1' : '');
	}

	return (
		parts && {
			ids: parts.filter((part) => !part.includes(':')).map(Number),
			instances: parts.map((part) => parseInstanceName(part)).filter((name) => name !== undefined),
		}
	);
}

/**
@returns Undefined for an empty one, which scripts give by a variable that is empty.
@throws CanhazgpuError `usage` for a label of blanks, one that is too long, or that holds what no name does.
*/
export function checkLabel(label: string | undefined): string | undefined {
	if (label === undefined || label === '') {
		return undefined;
	}

	const harmless = sanitize(label);
	const count = characterCount(label.trim());
	if (harmless === '' || harmless !== label.trim() || count > longestLabel) {
		const why = count > longestLabel ? `: it has ${count} characters` : '';
		throw new CanhazgpuError('usage', `--user: ${quoted(label)} cannot be a name${why}`, {
			hint: `Use 1 to ${longestLabel} letters, digits or signs.`,
		});
	}

	return harmless;
}
