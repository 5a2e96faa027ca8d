/** Tells what a scan shows, once for all who scan: the set of what was told is kept in the store. */
import {CanhazgpuError} from '../../errors.js';
import {nextBaselines} from '../rules/allocation/cleanliness.js';
import {alertChanges, recentLoss} from '../rules/pool/alerts.js';
import {isRoot} from '../rules/leases/ownership.js';
import {emptyPlan} from '../model/plan.js';
import type {World} from '../model/ports.js';
import {statusRows} from '../rules/pool/status.js';
import type {Observation, Snapshot} from '../model/types.js';

/** @param snapshot - As of now: its clock says when. */
export type AlertRecorder = (snapshot: Snapshot, observation: Observation) => Promise<void>;

/**
Makes what tells the events and the audit log of a scan what they do not know yet. It never fails for the store's sake: the next scan
tells it then. Nothing is sent while nothing differs, nor while the last news is still on its way.
*/
export function createAlertRecorder({
	store,
	host,
	memoryThresholdMiB,
}: Pick<World, 'store' | 'host' | 'memoryThresholdMiB'>): AlertRecorder {
	let isTelling = false;
	return async (snapshot, observation) => {
		if (isTelling || observation.failure !== undefined || snapshot.pool === undefined) {
			return;
		}

		const changes = alertChanges(snapshot.alerts, statusRows(snapshot, observation, memoryThresholdMiB), {
			now: snapshot.now,
			host: host.hostname,
			seesKernelLog: isRoot(host.account),
		});
		const baselines = nextBaselines(snapshot, {observation, bootId: host.bootId, memoryThresholdMiB});
		if (changes === undefined && baselines === undefined) {
			return;
		}

		const {standing, audit} = changes ?? {standing: snapshot.alerts, audit: []};
		isTelling = true;
		try {
			// A conflict is as good: somebody else told something, and the next scan shows what is left.
			await store.commit({
				...emptyPlan,
				expect: [
					{kind: 'pool', gpuCount: snapshot.gpus.length},
					{kind: 'notices', raw: snapshot.stored.notices},
				],
				writes: [
					{
						kind: 'notices',
						notices: standing,
						dataLoss: recentLoss(snapshot),
						baselines: baselines ?? snapshot.baselines,
					},
				],
				audit,
				event: {kind: 'notice', gpus: [...new Set(audit.flatMap(({gpus}) => gpus))]},
			});
		} catch (error) {
			if (!(error instanceof CanhazgpuError)) {
				throw error;
			}
		} finally {
			isTelling = false;
		}
	};
}
