/**
The keys of the policy. To add a key, write an entry here, read it with `policyValue`, and add a line to
`source/help/policy.md`. A plan that depends on the key also needs `policyExpectation`.
*/
import {isolationLevels} from '../../model/isolation.js';
import {mostGpus} from '../../model/observation.js';
import {parseDuration, secondsOf, shortestHoldSeconds} from '../leases/durations.js';
import {checkIds} from '../request/request.js';
import {strategyNames} from '../../model/need.js';

export type PolicyKey<Value> = {
	/** Allowed values, in words that follow `must be`. */
	readonly expects: string;
	/** The default, in the spelling that users type. */
	readonly fallback: string;
	/** The value while the policy cannot be read. It is the strictest one for keys that protect users from each other. */
	readonly inDoubt: {
		readonly value: Value;
		readonly words: string;
	};
	readonly summary: string;
	readonly completes: readonly string[];
	readonly read: (text: string) => Value | undefined;
	/** Checks a valid value against this pool. Throws `impossible`. */
	readonly check?: (value: Value, gpuCount: number) => void;
};

const choice = <const Choice extends string>(
	choices: readonly Choice[],
	key: Pick<PolicyKey<NoInfer<Choice>>, 'inDoubt' | 'summary'> & {readonly fallback: NoInfer<Choice>},
): PolicyKey<Choice> => ({
	...key,
	expects: choices.length > 2 ? `one of ${choices.join(', ')}` : choices.join(' or '),
	completes: choices,
	read: (text) => choices.find((each) => each === text),
});

/** The maximum number of shares on one GPU. With more, the shares would be too small to use. */
const mostShares = 64;

const noSharesText = 'no share is granted';

const nothingReclaimedText = 'no idle GPU goes back to the pool';

/** Defines a key whose value is a duration between two limits, which are spelled like the value itself. */
const duration = <const Other extends string = never>({
	least,
	most,
	other,
	...key
}: Pick<PolicyKey<number | Other>, 'fallback' | 'inDoubt' | 'summary' | 'completes'> & {
	readonly least: string;
	readonly most: string;
	/** A word that is accepted in place of a duration. */
	readonly other?: NoInfer<Other>;
}): PolicyKey<number | Other> => ({
	...key,
	expects: `${other === undefined ? '' : `${other}, or `}a duration from ${least} to ${most}`,
	read(text) {
		if (text === other) {
			return other;
		}

		const seconds = secondsOf(text);
		return seconds !== undefined && seconds >= secondsOf(least)! && seconds <= secondsOf(most)! ? seconds : undefined;
	},
});

const readIds = (text: string): readonly number[] | undefined =>
	/^\d{1,4}(?:,\d{1,4})*$/v.test(text) ? text.split(',').map(Number) : undefined;

const noAgentText = 'no GPU is granted to agents';

const off = 'off';

type LimitValue = number | typeof off;

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

/** Reads a duration in seconds. Undefined for an invalid or too short one. */
function readDuration(text: string): number | undefined {
	try {
		const seconds = parseDuration(text, '');
		return seconds >= shortestHoldSeconds ? seconds : undefined;
	} catch {
		return undefined;
	}
}

const durationLimit = (key: Pick<PolicyKey<LimitValue>, 'summary' | 'completes'>): PolicyKey<LimitValue> => ({
	...key,
	expects: 'a duration such as 30m, 12h or 7d, or off',
	fallback: off,
	inDoubt: noLimit,
	read: (text) => (text === off ? off : readDuration(text)),
});

/** The keys of limits by their last word. Each exists for everybody, for each user and for each group. */
const limitKeys = {
	'max-gpus': countLimit(mostGpus, 'how many GPUs one account can hold'),
	'max-waiting': countLimit(mostWaiting, 'how many requests of one account can wait'),
	'max-duration': durationLimit({
		summary: 'how far in the future a reservation can end',
		completes: ['12h', '1d', '7d', off],
	}),
	'default-duration': durationLimit({
		summary: 'how long a reservation without --duration lasts (8h unless set)',
		completes: ['30m', '2h', '4h', off],
	}),
};

export type LimitName = keyof typeof limitKeys;

export const limitNames = Object.keys(limitKeys) as readonly LimitName[];

export const policyKeys = {
	strategy: choice(strategyNames, {
		fallback: 'mru',
		inDoubt: {value: 'mru', words: 'GPUs are handed out in the default order'},
		summary: 'which of the free GPUs are handed out first',
	}),
	clean: choice(['on', 'off'], {
		fallback: 'off',
		inDoubt: {value: 'on', words: 'only clean GPUs are handed out'},
		summary: 'whether a GPU counts as free only when it has no processes and no memory in use',
	}),
	isolate: choice(isolationLevels, {
		fallback: 'off',
		inDoubt: {value: 'require', words: 'run starts only jobs that are isolated'},
		summary: 'whether jobs started by run are limited to their own GPUs',
	}),
	share: choice(['off', 'on'], {
		fallback: 'off',
		inDoubt: {value: 'off', words: noSharesText},
		summary: 'whether requests can reserve a part of a GPU',
	}),
	'share.max': {
		expects: `a whole number from 1 to ${mostShares}`,
		fallback: '4',
		inDoubt: {value: 1, words: noSharesText},
		summary: 'how many reservations can share one GPU',
		completes: ['2', '4', '8'],
		read: (text: string): number | undefined =>
			/^\d{1,2}$/v.test(text) && Number(text) >= 1 && Number(text) <= mostShares ? Number(text) : undefined,
	},
	'share.gpus': {
		expects: 'all, or GPU ids such as 0,1',
		fallback: 'all',
		inDoubt: {value: [], words: noSharesText},
		summary: 'which GPUs can be shared',
		completes: ['all'],
		read: (text: string): 'all' | readonly number[] | undefined => (text === 'all' ? 'all' : readIds(text)),
		check(value: 'all' | readonly number[], gpuCount: number) {
			if (value !== 'all') {
				checkIds(value, gpuCount);
			}
		},
	},
	'idle.after': duration<'off'>({
		least: '5m',
		most: '30d',
		other: 'off',
		fallback: 'off',
		inDoubt: {value: 'off', words: nothingReclaimedText},
		summary: 'how long a reservation must be idle before its owner is warned',
		completes: ['off', '30m', '1h', '2h'],
	}),
	'idle.grace': duration<'never'>({
		least: '5m',
		most: '30d',
		fallback: '20m',
		inDoubt: {value: 'never', words: nothingReclaimedText},
		summary: 'the time between the warning and the return of the GPUs',
		completes: ['10m', '20m', '1h'],
	}),
	'idle.when': {
		expects: 'wanted or always',
		fallback: 'wanted',
		inDoubt: {value: 'never', words: nothingReclaimedText},
		summary: 'whether idle GPUs go back only if somebody is waiting for them',
		completes: ['wanted', 'always'],
		read: (text: string): 'wanted' | 'always' | 'never' | undefined =>
			text === 'wanted' || text === 'always' ? text : undefined,
	} satisfies PolicyKey<'wanted' | 'always' | 'never'>,
	'idle.keep-max': duration<'any'>({
		least: '30m',
		most: '30d',
		fallback: '12h',
		inDoubt: {value: 'any', words: nothingReclaimedText},
		summary: 'the longest time for which --keep protects an idle reservation',
		completes: ['4h', '12h', '1d'],
	}),
	'limits.max-gpus': limitKeys['max-gpus'],
	'limits.max-waiting': limitKeys['max-waiting'],
	'limits.max-duration': limitKeys['max-duration'],
	'limits.default-duration': limitKeys['default-duration'],
	'limits.slack': choice(['off', 'on'], {
		fallback: 'off',
		inDoubt: {value: 'off', words: 'nobody gets more GPUs than limits.max-gpus'},
		summary: 'whether reservations may exceed max-gpus while nobody else is waiting',
	}),
	'agents.max-gpus': {
		expects: 'a whole number from 0 to 9999, or off',
		fallback: off,
		inDoubt: {value: 0, words: noAgentText},
		summary: 'how many GPUs all coding agents (clients of mcp) can hold together',
		completes: ['0', '1', '2', '4', off],
		read: (text: string): LimitValue | undefined =>
			text === off ? off : /^\d{1,4}$/v.test(text) ? Number(text) : undefined,
	},
	'agents.max-duration': {
		expects: 'a duration such as 2h, or off',
		fallback: off,
		inDoubt: {value: 0, words: noAgentText},
		summary: 'how long a coding agent can hold a GPU',
		completes: ['1h', '4h', off],
		read: (text: string): LimitValue | undefined => (text === off ? off : readDuration(text)),
	},
};

export type PolicyKeyName = keyof typeof policyKeys;

export const policyKeyNames = Object.keys(policyKeys) as readonly PolicyKeyName[];

export const isPolicyKey = (key: string): key is PolicyKeyName => Object.hasOwn(policyKeys, key);

export type NamedLimit = {
	readonly kind: 'user' | 'group';
	readonly name: string;
	readonly limit: LimitName;
};

export const limitKeyFor = ({kind, name, limit}: NamedLimit): string => `limits.${kind}.${name}.${limit}`;

/** Parses a key such as `limits.user.ada.max-gpus`. The name can contain dots. Undefined for every other key. */
export function namedLimitOf(key: string): NamedLimit | undefined {
	const {kind, name, limit} =
		/^limits\.(?<kind>user|group)\.(?<name>[^\s\p{Control}]+)\.(?<limit>[\-a-z]+)$/v.exec(key)?.groups ?? {};
	return kind === undefined || name === undefined || limit === undefined || !Object.hasOwn(limitKeys, limit)
		? undefined
		: {kind: kind as NamedLimit['kind'], name, limit: limit as LimitName};
}

/** Returns the definition of a key, also for a user or group. Undefined for a key that this version does not know. */
export function definitionOf(key: string): PolicyKey<unknown> | undefined {
	if (isPolicyKey(key)) {
		return policyKeys[key] as PolicyKey<unknown>;
	}

	const named = namedLimitOf(key);
	if (named === undefined) {
		return undefined;
	}

	const {summary, ...definition} = limitKeys[named.limit] as PolicyKey<unknown>;
	return {...definition, summary: `${summary}, for ${named.kind === 'user' ? 'this user' : 'members of this group'}`};
}
