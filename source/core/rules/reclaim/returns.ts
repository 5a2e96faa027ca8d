import type {Plan} from '../../model/plan.js';
import type {ReturnNote, Snapshot} from '../../model/types.js';
import {gpusOf, type Holding} from '../leases/holdings.js';
import {labelOf, ownerOf} from '../leases/ownership.js';
import {alertsWrite} from '../pool/alerts.js';

/** Plans notes about reservations that went back to the pool, so that one process notifies the owners. Plans none if the record of alerts cannot be read. */
export function noteReturns(
	snapshot: Snapshot,
	ended: readonly Holding[],
	reason: ReturnNote['reason'],
): Pick<Plan, 'expect' | 'writes'> {
	if (ended.length === 0 || snapshot.alertsProblem !== undefined) {
		return {expect: [], writes: []};
	}

	const groups = Map.groupBy(ended, ({lease}) => lease.leaseId!);
	const notes = Array.from(groups, ([leaseId, holdings]): ReturnNote => {
		const {lease} = holdings[0]!;
		return {
			account: ownerOf(lease),
			label: labelOf(lease),
			gpus: gpusOf(holdings),
			leaseId,
			reason,
			endedAt: snapshot.now,
			note: lease.note,
		};
	});
	return {
		expect: [{kind: 'alerts', raw: snapshot.stored.alerts}],
		writes: [alertsWrite(snapshot, {returned: [...(snapshot.returned ?? []), ...notes]})],
	};
}
