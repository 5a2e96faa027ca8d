/** Writing down what a lease is used for, while it can be seen: its usage record will say so when it has ended. */
import {emptyPlan, type Plan} from '../../model/plan.js';
import type {GpuProcess, GpuReading, Observation, Snapshot} from '../../model/types.js';
import {holdingsIn, type Holding} from '../leases/holdings.js';
import {planChange} from '../leases/lease-changes.js';
import {ownerOf} from '../leases/ownership.js';
import {usageOfShares} from '../usage/share-usage.js';
import {modelOf} from './served-model.js';

/** The processes of the holder: those of its account or, of several shares that it may have, those of this one. */
const processesOf = (
	{lease, sharedBy}: Holding,
	processes: readonly GpuProcess[],
	reading: GpuReading | undefined,
): readonly GpuProcess[] =>
	sharedBy === undefined
		? processes.filter(({user}) => user === ownerOf(lease))
		: usageOfShares(sharedBy.record.shares, processes, reading).shares[sharedBy.position]!.processes;

/** Names in their leases the models that the holders' processes name. The first that is seen stays, so that each lease is written once. */
export function planServedModels({gpus}: Pick<Snapshot, 'gpus'>, observation: Pick<Observation, 'gpus'>): Plan {
	const models = new Map<Holding, string>();
	const seen = holdingsIn(gpus).filter((holding) => {
		const {index, lease} = holding;
		const reading = lease.model === undefined ? observation.gpus.find((gpu) => gpu.index === index) : undefined;
		const model = modelOf(processesOf(holding, reading?.processes ?? [], reading))?.model;
		if (model !== undefined) {
			models.set(holding, model);
		}

		return model !== undefined;
	});
	return seen.length === 0
		? emptyPlan
		: planChange(seen, (lease, holding) => ({...lease, model: models.get(holding)}), undefined);
}
