import type {AuditEntry} from '../core/model/types.js';
import {gpuList} from './text/gpu-list.js';

/** Whether a reservation went back to the pool after a warning. */
export const isReturn = ({kind, reason}: AuditEntry): boolean =>
	kind === 'ended' && (reason === 'reclaimed' || reason === 'beyond-limit');

export const isOwnReturn = (entry: AuditEntry, account: string | undefined): boolean =>
	account !== undefined && (entry.owner ?? entry.account) === account && isReturn(entry);

export const returnText = (gpus: readonly number[], reason: string | undefined): string =>
	`your reservation of ${gpuList(gpus)} was ${reason === 'reclaimed' ? 'idle' : 'beyond your limit'} and went back to the pool`;
