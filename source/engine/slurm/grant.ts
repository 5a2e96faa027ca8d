/** What a job got, as every engine tells it. Pure. */
import {latestEndOf} from '../../core/rules/leases/liveness.js';
import {holdingsIn} from '../../core/rules/leases/holdings.js';
import type {Grant} from '../../core/rules/request/request.js';
import type {ClusterState} from './answers/state.js';
import {clusterGpus, snapshotOf} from './snapshot.js';

/** Undefined: the job has no GPUs, or it has ended. */
export function grantOf(state: ClusterState, jobId: number): Grant | undefined {
	const held = holdingsIn(snapshotOf(state).gpus).filter(({lease}) => lease.leaseId === String(jobId));
	const [first] = held;
	if (first === undefined) {
		return undefined;
	}

	const gpus = clusterGpus(state.nodes);
	const heldGpus = held.map(({index}) => gpus[index]!);
	return {
		kind: 'granted',
		gpus: held.map(({index}) => index),
		leaseId: String(jobId),
		startTime: first.lease.startTime,
		endsBy: latestEndOf(first.lease),
		place: {node: heldGpus[0]!.node, gpuIds: heldGpus.map(({gpu}) => gpu)},
	};
}
