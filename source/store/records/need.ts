import type {Need} from '../../core/model/types.js';
import type {Fields} from './json/fields.js';

function readInstanceNeed(fields: Fields | undefined): Need['mig'] {
	if (fields === undefined) {
		return undefined;
	}

	const instances = fields.records('instances', (one) => ({
		gpu: one.required('gpu', one.whole('gpu')),
		number: one.required('number', one.whole('number')),
	}));
	return instances.length > 0 ? {instances} : {profile: fields.required('profile', fields.text('profile'))};
}

export function readNeed(fields: Fields | undefined): Need | undefined {
	if (fields === undefined) {
		return undefined;
	}

	const models = fields.texts('models');
	const need: Need = {
		minMemoryMiB: fields.quantity('min_memory_mib'),
		shareMiB: fields.quantity('share_mib'),
		mig: readInstanceNeed(fields.object('mig')),
		models: models.length === 0 ? undefined : models,
		minCompute: fields.text('min_compute'),
		sameModel: fields.switch('same_model'),
		nvlink: fields.switch('nvlink'),
	};
	const unknownFields = fields.rest();
	return unknownFields === undefined ? need : {...need, unknownFields};
}

export const needRecord = ({
	minMemoryMiB,
	shareMiB,
	mig,
	models,
	minCompute,
	sameModel,
	nvlink,
	unknownFields,
}: Need) => ({
	...unknownFields,
	min_memory_mib: minMemoryMiB,
	share_mib: shareMiB,
	mig,
	models,
	min_compute: minCompute,
	same_model: sameModel,
	nvlink,
});
