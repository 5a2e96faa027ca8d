/** Whose something is, in words: every face says it in the same way. */
import type {Lease, QueueEntry} from '../core/model/types.js';
import {labelOf, ownerOf} from '../core/rules/leases/ownership.js';
import {sanitize} from './text/text.js';

/** `alice`, or `alice (team)` for what bears a label. */
export const ownerText = (account: string, label: string | undefined): string =>
	label === undefined ? sanitize(account) : `${sanitize(account)} (${sanitize(label)})`;

/** Whose a reservation or a request is. */
export const holderText = (held: Lease | QueueEntry): string => ownerText(ownerOf(held), labelOf(held));
