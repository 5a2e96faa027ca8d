import type {World} from '../model/ports.js';
import type {AuditKind, AuditRecord} from '../model/types.js';

/** Audit records of actions that people take. A plan can also contain records of automatic events. */
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
	// A record without an end is about a warning that is withdrawn because somebody keeps the GPUs.
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
