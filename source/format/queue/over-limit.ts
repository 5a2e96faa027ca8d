/** Explains that a request waits for its own account to hold fewer GPUs. */
import type {OverLimit} from '../../core/rules/queue/account-limits.js';
import {settingText} from '../../core/rules/limits/limits.js';
import {sanitize} from '../text/text.js';

/** Returns `ada holds 4 of at most 4 GPUs`, or also how many GPUs the account's earlier requests want. */
export function overLimitText({account, held, ahead, limit}: OverLimit): string {
	const words = `${sanitize(account)} holds ${held} of at most ${limit.value} ${limit.value === 1 ? 'GPU' : 'GPUs'}`;
	return held >= limit.value || ahead === 0 ? words : `${words}, and its earlier requests want ${ahead}`;
}

/** Returns `The limit is limits.max-gpus=4.` */
export const limitSettingText = ({limit}: OverLimit): string => `The limit is ${sanitize(settingText(limit))}.`;

export const overLimitJson = ({account, held, ahead, limit}: OverLimit) => ({
	account,
	held_gpus: held,
	max_gpus: limit.value,
	requested_before: ahead === 0 ? undefined : ahead,
	key: limit.key,
});
