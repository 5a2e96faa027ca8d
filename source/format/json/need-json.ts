import {instanceText} from '../../core/rules/mig/instances.js';
import type {Need} from '../../core/model/types.js';
import {sanitize} from '../text/text.js';

export const needJson = ({minMemoryMiB, shareMiB, mig, models, minCompute, sameModel, nvlink}: Need) => ({
	min_memory_mb: minMemoryMiB,
	share_mb: shareMiB,
	mig_profile: mig !== undefined && 'profile' in mig ? sanitize(mig.profile) : undefined,
	mig_instances: mig !== undefined && 'instances' in mig ? mig.instances.map((name) => instanceText(name)) : undefined,
	models: models?.map((model) => sanitize(model)),
	min_compute: minCompute === undefined ? undefined : sanitize(minCompute),
	same_model: sameModel,
	nvlink,
});
