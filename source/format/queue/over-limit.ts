/** Explains that a request waits for its own account or for other agents to hold fewer GPUs. */
import type {AgentLimit, OverLimit} from '../../core/rules/queue/account-limits.js';
import {settingText} from '../../core/rules/limits/limits.js';
import {counted} from '../text/numbers.js';
import {sanitize} from '../text/text.js';

/** Returns `ada holds 4 of at most 4 GPUs`, or also how many GPUs the account's earlier requests want. */
export function overLimitText({account, held, ahead, limit}: OverLimit): string {
	const words = `${sanitize(account)} holds ${held} of at most ${counted(limit.value, 'GPU')}`;
	return held >= limit.value || ahead === 0 ? words : `${words}, and its earlier requests want ${ahead}`;
}

/** Returns `agents hold 2 of at most 2 GPUs together`, or also how many GPUs earlier requests of agents want. */
export function agentLimitText({held, ahead, most}: AgentLimit): string {
	const words = `agents hold ${held} of at most ${counted(most, 'GPU')} together`;
	return held >= most || ahead === 0 ? words : `${words}, and their earlier requests want ${ahead}`;
}

/** Returns the limit for which a request waits. Undefined if it waits for another reason. */
export const limitText = ({
	overLimit,
	agentLimit,
}: {
	readonly overLimit?: OverLimit | undefined;
	readonly agentLimit?: AgentLimit | undefined;
}): string | undefined =>
	overLimit === undefined ? agentLimit && agentLimitText(agentLimit) : overLimitText(overLimit);

/** Returns `The limit is limits.max-gpus=4.` */
export const limitSettingText = ({limit}: OverLimit): string => `The limit is ${sanitize(settingText(limit))}.`;

export const overLimitJson = ({account, held, ahead, limit}: OverLimit) => ({
	account,
	held_gpus: held,
	max_gpus: limit.value,
	requested_before: ahead === 0 ? undefined : ahead,
	key: limit.key,
});
