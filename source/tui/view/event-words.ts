/** One event in few words. */
import type {AuditEntry} from '../../core/types.js';

export function eventWords({account, label, kind, gpus, reason, note}: AuditEntry): string {
	const where = gpus.length === 0 ? '' : `${gpus.length === 1 ? 'GPU' : 'GPUs'} ${gpus.join(',')}`;
	return [label ?? account, kind, where, reason, note].filter(Boolean).join(' ');
}
