import {mostGpus} from '../../model/observation.js';
import {readHoldSeconds, type PolicyKey} from './key-kinds.js';

export const off = 'off';

export type LimitValue = number | typeof off;

const mostWaiting = 10_000;

const noLimit = {value: off, words: 'limits that cannot be read do not apply'} as const;

const countLimit = (most: number, summary: string): PolicyKey<LimitValue> => ({
	expects: `a whole number from 1 to ${most}, or off`,
	fallback: off,
	inDoubt: noLimit,
	summary,
	completes: ['1', '2', '4', '8', off],
	read: (text) =>
		text === off
			? off
			: /^\d{1,5}$/v.test(text) && Number(text) >= 1 && Number(text) <= most
				? Number(text)
				: undefined,
});

const durationLimit = (key: Pick<PolicyKey<LimitValue>, 'summary' | 'completes'>): PolicyKey<LimitValue> => ({
	...key,
	expects: 'a duration such as 30m, 12h or 7d, or off',
	fallback: off,
	inDoubt: noLimit,
	read: (text) => (text === off ? off : readHoldSeconds(text)),
});

/** The definitions of limits, by the last word of their keys. Each limit can be set for everybody, for a user and for a group. */
export const limitKeys = {
	'max-gpus': countLimit(mostGpus, 'how many GPUs one account can hold'),
	'max-waiting': countLimit(mostWaiting, 'how many requests of one account can wait'),
	'max-duration': durationLimit({
		summary: 'how long a reservation can last from now',
		completes: ['12h', '1d', '7d', off],
	}),
	'default-duration': durationLimit({
		summary: 'how long a reservation without --duration lasts (8h unless set)',
		completes: ['30m', '2h', '4h', off],
	}),
};

export type LimitName = keyof typeof limitKeys;

export const limitNames = Object.keys(limitKeys) as readonly LimitName[];

export type NamedLimit = {
	readonly kind: 'user' | 'group';
	readonly name: string;
	readonly limit: LimitName;
};

export const limitKeyFor = ({kind, name, limit}: NamedLimit): string => `limits.${kind}.${name}.${limit}`;

/**
Parses a key such as `limits.user.ada.max-gpus`. The name can contain dots, and spaces as in `domain users`. Undefined for every other key.
*/
export function namedLimitOf(key: string): NamedLimit | undefined {
	const {kind, name, limit} =
		/^limits\.(?<kind>user|group)\.(?<name>[^\s\p{Control}]+(?: +[^\s\p{Control}]+)*)\.(?<limit>[\-a-z]+)$/v.exec(key)
			?.groups ?? {};
	return kind === undefined || name === undefined || limit === undefined || !Object.hasOwn(limitKeys, limit)
		? undefined
		: {kind: kind as NamedLimit['kind'], name, limit: limit as LimitName};
}
