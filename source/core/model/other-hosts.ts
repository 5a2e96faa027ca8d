import {mostGpus} from './observation.js';

/** A valid ssh destination, `host` or `user@host`, without characters that ssh or a shell could misinterpret. */
const destination = /^(?:[A-Z_a-z][\w\-.]*@)?[\dA-Za-z](?:[\w\-.:]*[\dA-Za-z])?$/v;

/** A safe host name or address. Other programs get the name as an argument and must not mistake it for an option. */
export const hostPattern = /^[\p{Letter}\p{Number}:_][\p{Letter}\p{Number}%\-.:_]*$/v;

const longestName = 255;

/** Returns the account in a name such as `alice@gpu-box-2`. Undefined if the name has no account, so that ssh chooses one. */
export const accountOn = (name: string): string | undefined => (name.includes('@') ? name.split('@', 1)[0] : undefined);

export const isRemoteHost = (name: string): boolean => name.length <= longestName && destination.test(name);

/** Returns the names without duplicates and without this host, so that all hosts can share one config file. */
export const otherHosts = (names: readonly string[], hostname: string): readonly string[] => [
	...new Set(names.filter((name) => name !== hostname)),
];

const deepest = 6;

const isDeeper = (value: unknown, levels: number): boolean =>
	typeof value === 'object' &&
	value !== null &&
	(levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

/** Whether a status has a plausible size and depth, so that it is safe to show. */
export const isPlausibleStatus = (rows: readonly unknown[]): boolean =>
	rows.length <= mostGpus && !isDeeper(rows, deepest);

/** The limits of our account on a host. Absent if there is no limit, or if it is unknown. */
export type OwnLimits = {
	readonly room?: AccountRoom | undefined;
	/** The longest time for which the account can ask. */
	readonly mostSeconds?: number | undefined;
};

/** How many GPUs our account may hold on a host, and how many of them are left. */
export type AccountRoom = {
	readonly mostGpus: number;
	/** How many GPUs a new request can get before the limit of its own account makes it wait. */
	readonly leftGpus: number;
	/** Whether a reservation of whole GPUs may exceed the account's limit while nobody else waits. */
	readonly hasSlack: boolean;
};
