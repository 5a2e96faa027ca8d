import {CanhazgpuError} from '../../errors.js';
import {nextBaselines} from '../rules/usage/cleanliness.js';
import {alertChanges, alertsWrite} from '../rules/pool/alerts.js';
import {overuseChanges} from '../rules/pool/overuse.js';
import {emptyPlan, poolExpectations, type Expectation} from '../model/plan.js';
import {statusRows} from '../rules/pool/status.js';
import type {Observation, Snapshot} from '../model/types.js';
import type {EngineWorld} from './engine.js';

/** Records the findings of a scan. The records get the time of `snapshot`, so `snapshot` must be a new read. */
export type AlertRecorder = (snapshot: Snapshot, observation: Observation) => Promise<void>;

/** Creates a recorder that writes each new alert and overuse to the audit log once. Ignores errors of the store, because the next scan tries again. */
export function createAlertRecorder({
	store,
	host,
	memoryThresholdMiB,
	engine,
}: Pick<EngineWorld, 'store' | 'host' | 'memoryThresholdMiB' | 'engine'>): AlertRecorder {
	if (engine !== undefined) {
		return async () => undefined;
	}

	let isRecording = false;
	return async (snapshot, observation) => {
		if (isRecording || observation.failure !== undefined || snapshot.pool === undefined) {
			return;
		}

		const rows = statusRows(snapshot, observation, memoryThresholdMiB);
		const context = {now: snapshot.now, host: host.hostname};
		// A posted scan does not say whether the log was read. The process that posted it ends alerts itself.
		const seesKernelLog = observation.lacksKernelLog !== true && observation.isPosted !== true;
		const changes = alertChanges(snapshot.alerts, rows, {...context, seesKernelLog});
		const shares = overuseChanges(snapshot, rows, context);
		const baselines = nextBaselines(snapshot, {observation, bootId: host.bootId, memoryThresholdMiB});
		if (changes === undefined && baselines === undefined && shares === undefined) {
			return;
		}

		const audit = [...(changes?.audit ?? []), ...(shares?.audit ?? [])];
		const gpus = [...new Set(audit.flatMap((entry) => entry.gpus))];
		isRecording = true;
		try {
			// A conflict needs no retry: the next scan shows what must still be recorded.
			await store.commit({
				...emptyPlan,
				expect: [
					...poolExpectations(snapshot),
					{kind: 'alerts', raw: snapshot.stored.alerts},
					// Somebody may have reserved a GPU between the read and the scan.
					...gpus.map((index): Expectation => ({kind: 'gpu', index, raw: snapshot.gpus[index]?.raw})),
				],
				writes: [alertsWrite(snapshot, {alerts: changes?.standing, baselines, overuse: shares?.overuse})],
				audit,
				event: {kind: 'notice', gpus},
			});
		} catch (error) {
			if (!(error instanceof CanhazgpuError)) {
				throw error;
			}
		} finally {
			isRecording = false;
		}
	};
}
