/**
The keys of the policy. To add a key, write an entry here, read it with `policyValue`, and add a line to
`source/help/policy.md`. A plan that depends on the key also needs `policyExpectations`.
*/
import {isolationLevels} from '../../model/isolation.js';
import {strategyNames} from '../../model/need.js';
import {checkIds} from '../request/request.js';
import {choice, duration, readHoldSeconds, type PolicyKey} from './key-kinds.js';
import {limitKeys, namedLimitOf, off, type LimitValue} from './limit-keys.js';

/** The maximum number of shares on one GPU. With more shares, each share would be too small to use. */
const mostShares = 64;

const noSharesText = 'no share is granted';

const nothingReclaimedText = 'no idle GPU goes back to the pool';

const readIds = (text: string): readonly number[] | undefined =>
	/^\d{1,4}(?:,\d{1,4})*$/v.test(text) ? text.split(',').map(Number) : undefined;

const noAgentText = 'no GPU is granted to agents';

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
		read: (text: string): LimitValue | undefined => (text === off ? off : readHoldSeconds(text)),
	},
};

export type PolicyKeyName = keyof typeof policyKeys;

export const policyKeyNames = Object.keys(policyKeys) as readonly PolicyKeyName[];

export const isPolicyKey = (key: string): key is PolicyKeyName => Object.hasOwn(policyKeys, key);

/** Returns the definition of a key. The key can be a limit for a user or group. Undefined for a key that this version does not know. */
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
