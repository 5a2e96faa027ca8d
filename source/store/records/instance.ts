import type {HeldInstance} from '../../core/model/types.js';
import type {Fields} from './json/fields.js';
import {optionalText} from './json/write.js';

/** The instance of MIG that a record is about. Only its UUID has to be there. */
export function readInstance(fields: Fields): HeldInstance {
	return {
		uuid: fields.required('uuid', fields.text('uuid')),
		number: fields.whole('number'),
		profile: fields.text('profile'),
		gpuInstanceId: fields.whole('gpu_instance_id'),
		computeInstanceId: fields.whole('compute_instance_id'),
	};
}

/** The stored form of an instance; undefined for none. */
export const instanceRecord = (instance: HeldInstance | undefined) =>
	instance && {
		uuid: instance.uuid,
		number: instance.number,
		profile: optionalText(instance.profile),
		gpu_instance_id: instance.gpuInstanceId,
		compute_instance_id: instance.computeInstanceId,
	};
