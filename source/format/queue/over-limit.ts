/** Explains that a request waits until its own account, or the coding agents together, hold fewer GPUs. */
import type {AgentLimit, OverLimit} from '../../core/rules/queue/account-limits.js';
import {settingText} from '../../core/rules/limits/limits.js';
import {counted} from '../text/numbers.js';
import {sanitize} from '../text/text.js';

export function overLimitText({account, held, ahead, limit}: OverLimit): string {
	const words = `${sanitize(account)} holds ${held} of at most ${counted(limit.value, 'GPU')}`;
	return held >= limit.value || ahead === 0 ? words : `${words}, and its earlier requests are waiting for ${ahead}`;
}

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

export const limitSettingText = ({limit}: OverLimit): string => `The limit is ${sanitize(settingText(limit))}.`;

export const overLimitJson = ({account, held, ahead, limit}: OverLimit) => ({
	account,
	held_gpus: held,
	max_gpus: limit.value,
	requested_before: ahead === 0 ? undefined : ahead,
	key: limit.key,
});
