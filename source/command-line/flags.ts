import type {Flag, Flags} from './command.js';

export const globalFlags: Flags = {
	config: {value: 'FILE', summary: 'use this config file instead of the usual ones', completes: 'files'},
	'redis-host': {value: 'HOST', summary: 'Redis host (default: localhost)', setting: 'redis.host'},
	'redis-port': {value: 'PORT', summary: 'Redis port (default: 6379)', setting: 'redis.port'},
	'redis-db': {value: 'N', summary: 'Redis database (default: 0)', setting: 'redis.db'},
	store: {value: 'STORE', summary: 'where the pool is kept: redis or embedded', setting: 'store'},
	engine: {value: 'NAME', summary: 'the engine that grants the GPUs: local or slurm', setting: 'engine'},
	'memory-threshold': {
		value: 'MB',
		summary: 'memory use above which a GPU counts as busy (default: 1024)',
		setting: 'memory.threshold',
	},
	'no-color': {summary: 'print without colors'},
	help: {shortFlag: 'h', summary: 'show this help'},
	version: {shortFlag: 'v', summary: 'show the version'},
};

const valueText = (value: string | undefined, bare: string | undefined): string =>
	value === undefined ? '' : bare === undefined ? ` ${value}` : `[=${value}]`;

export const flagRows = (flags: Flags): ReadonlyArray<readonly [typed: string, summary: string]> =>
	Object.entries(flags).map(([name, {shortFlag, value, bare, summary}]) => [
		`${shortFlag === undefined ? ' '.repeat(4) : `-${shortFlag}, `}--${name}${valueText(value, bare)}`,
		summary,
	]);

export function flagOf(typed: string, flags: Flags): (Flag & {readonly name: string}) | undefined {
	const [name, flag] =
		Object.entries(flags).find(
			([long, {shortFlag, aliases = []}]) =>
				(shortFlag !== undefined && typed === `-${shortFlag}`) ||
				[long, ...aliases].some((spelled) => typed === `--${spelled}`),
		) ?? [];
	return name === undefined || flag === undefined ? undefined : {...flag, name};
}

/** Returns the index of the command: the first word that is neither a flag nor the value of a global flag. */
export function commandPosition(words: readonly string[]): number {
	let index = 0;
	while (words[index]?.startsWith('-') === true) {
		index += flagOf(words[index]!, globalFlags)?.value === undefined ? 1 : 2;
	}

	return Math.min(index, words.length);
}
