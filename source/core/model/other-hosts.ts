/** The other boxes, which are asked by ssh: what their names may be, and what their answers may hold. */
import {mostGpus} from './observation.js';

/** A valid ssh destination, `host` or `user@host`, without anything that ssh or a shell could misinterpret. */
const destination = /^(?:[A-Z_a-z][\w\-.]*@)?[\dA-Za-z](?:[\w\-.:]*[\dA-Za-z])?$/v;

/** Host names and addresses go to other programs: nothing that such a program could take for an option. */
export const hostPattern = /^[\p{Letter}\p{Number}:_][\p{Letter}\p{Number}%\-.:_]*$/v;

const longestName = 255;

/** The account in `alice@gpu-box-2`. Undefined: the user's ssh configuration says it. */
export const accountOn = (name: string): string | undefined => (name.includes('@') ? name.split('@', 1)[0] : undefined);

export const isRemoteHost = (name: string): boolean => name.length <= longestName && destination.test(name);

/** Each once, and without this one: the same config file may lie on all of them. */
export const otherHosts = (names: readonly string[], hostname: string): readonly string[] => [
	...new Set(names.filter((name) => name !== hostname)),
];

/** Deeper than any status is. */
const deepest = 6;

const isDeeper = (value: unknown, levels: number): boolean =>
	typeof value === 'object' &&
	value !== null &&
	(levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

/** Whether it is no larger and no deeper than what a box can have to say, so that a face that shows it need not ask. */
export const isPlausibleStatus = (rows: readonly unknown[]): boolean =>
	rows.length <= mostGpus && !isDeeper(rows, deepest);
