/**
Every key of the policy, once: what it can be, what holds where it is not set, and what it does. To add a key, write one line here, read it by
`policyOf` where it decides something, and add a line to `source/help/policy.md`; a plan that depends on it also expects the record: see
`policyExpectation`. A key is added together with what it does.
*/
import {isolationLevels} from '../../model/isolation.js';
import {strategyNames} from '../allocation/strategy.js';

export type PolicyKey<Value> = {
	/** What its value can be, as it follows `must be`. */
	readonly expects: string;
	/** What holds where the key is not set, as it would be typed. */
	readonly fallback: string;
	readonly summary: string;
	/** What Tab offers as its value. */
	readonly completes: readonly string[];
	/** What the text means. Undefined: it is no value of this key. */
	readonly read: (text: string) => Value | undefined;
	/**
	Refuses what this very pool cannot have.

	@throws CanhazgpuError `impossible`.
	*/
	readonly check?: (value: Value, gpuCount: number) => void;
};

const choice = <const Choice extends string>(
	choices: readonly Choice[],
	{fallback, summary}: {readonly fallback: NoInfer<Choice>; readonly summary: string},
): PolicyKey<Choice> => ({
	expects: choices.length > 2 ? `one of ${choices.join(', ')}` : choices.join(' or '),
	fallback,
	summary,
	completes: choices,
	read: (text) => choices.find((each) => each === text),
});

export const policyKeys = {
	strategy: choice(strategyNames, {
		fallback: 'mru',
		summary: 'which of the free GPUs are handed out first',
	}),
	clean: choice(['on', 'off'], {
		fallback: 'off',
		summary: 'whether a GPU is free only with no process and no memory left on it',
	}),
	isolate: choice(isolationLevels, {
		fallback: 'off',
		summary: 'whether jobs of run can open no GPU but their own',
	}),
};

export type PolicyKeyName = keyof typeof policyKeys;

export const policyKeyNames = Object.keys(policyKeys) as readonly PolicyKeyName[];

export const isPolicyKey = (key: string): key is PolicyKeyName => Object.hasOwn(policyKeys, key);
