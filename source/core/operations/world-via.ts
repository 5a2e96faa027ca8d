import type {World} from '../model/ports.js';
import type {AuditKind, AuditRecord} from '../model/types.js';

/** Kinds of audit records about actions of people. A plan can also contain records of automatic events. */
const deeds: ReadonlySet<AuditKind> = new Set([
	'granted',
	'held',
	'released',
	'extended',
	'joined',
	'refused',
	'submitted',
]);

/** Whether a record is about an action of a user. If an entry leaves the queue automatically, its record has a reason. */
const isDeed = ({kind, reason, until}: AuditRecord): boolean =>
	deeds.has(kind) ||
	(kind === 'left' && reason === undefined) ||
	// With `until`, a user decided to keep the GPUs until that time. Without it, the record only says that the warning was withdrawn as a result.
	(kind === 'idle' && reason === 'kept' && until !== undefined);

/** Returns a world whose actions are marked with this interface in the audit log. */
export const worldVia = <Given extends World>(world: Given, via: string): Given => ({
	...world,
	store: {
		...world.store,
		commit: async (plan) =>
			world.store.commit({
				...plan,
				audit: plan.audit.map((record) => (isDeed(record) ? {...record, via} : record)),
			}),
	},
});
