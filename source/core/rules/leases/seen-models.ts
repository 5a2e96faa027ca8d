/** Writing down what a lease is used for, while it can be seen: its usage record will say so when it has ended. */
import {emptyPlan, type Plan} from '../../model/plan.js';
import type {Observation, Snapshot} from '../../model/types.js';
import {isLeased, planChange} from './lease-changes.js';
import {modelOf} from './served-model.js';
import {ownerOf} from './ownership.js';

/** Names in their leases the models that the holders' processes name. The first that is seen stays, so that each lease is written once. */
export function planServedModels({gpus}: Pick<Snapshot, 'gpus'>, observation: Pick<Observation, 'gpus'>): Plan {
	const models = new Map<number, string>();
	const seen = gpus.filter(isLeased).filter(({index, lease}) => {
		const reading = lease.model === undefined ? observation.gpus.find((gpu) => gpu.index === index) : undefined;
		const model = modelOf((reading?.processes ?? []).filter(({user}) => user === ownerOf(lease)))?.model;
		if (model !== undefined) {
			models.set(index, model);
		}

		return model !== undefined;
	});
	return seen.length === 0
		? emptyPlan
		: planChange(seen, (lease, index) => ({...lease, model: models.get(index)}), undefined);
}
