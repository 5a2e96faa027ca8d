/** The MIG instances in records of leases, jobs, usage and the audit log. */
import {mostGpus} from '../../core/model/observation.js';
import type {HeldInstance, InstanceOfGpu} from '../../core/model/types.js';
import type {Fields} from './json/fields.js';
import {optionalText} from './json/write.js';

export function readInstance(fields: Fields): HeldInstance {
	return {
		uuid: fields.required('uuid', fields.text('uuid')),
		number: fields.whole('number'),
		profile: fields.text('profile'),
		gpuInstanceId: fields.whole('gpu_instance_id'),
		computeInstanceId: fields.whole('compute_instance_id'),
	};
}

export const instanceRecord = (instance: HeldInstance | undefined) =>
	instance && {
		uuid: instance.uuid,
		number: instance.number,
		profile: optionalText(instance.profile),
		gpu_instance_id: instance.gpuInstanceId,
		compute_instance_id: instance.computeInstanceId,
	};

/** Maximum number of MIG instances in a record, more than a machine can have. */
const mostInstances = 4 * mostGpus;

/** Reads the list `instances`. Undefined if it is absent or empty. */
export function readInstances(fields: Fields): readonly InstanceOfGpu[] | undefined {
	const instances = fields
		.records('instances', (one) => ({gpu: one.required('gpu', one.whole('gpu')), ...readInstance(one)}))
		.slice(0, mostInstances);
	return instances.length === 0 ? undefined : instances;
}

export const instancesRecord = (instances: readonly InstanceOfGpu[] | undefined) =>
	instances?.map((instance) => ({gpu: instance.gpu, ...instanceRecord(instance)}));
