/** Whose something is, in words: every face says it in the same way. */
import {sanitize} from './text/text.js';

/** `alice`, or `alice (team)` for what bears a label. */
export const ownerWords = (account: string, label: string | undefined): string =>
	label === undefined ? sanitize(account) : `${sanitize(account)} (${sanitize(label)})`;
