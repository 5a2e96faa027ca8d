/** What a request needs of its GPUs, as JSON. What was not asked for is absent. */
import type {Need} from '../core/model/types.js';
import {sanitize} from './text/text.js';

export const needJson = ({minMemoryMiB, shareMiB, models, minCompute, sameModel, nvlink}: Need) => ({
	min_memory_mb: minMemoryMiB,
	share_mb: shareMiB,
	models: models?.map((model) => sanitize(model)),
	min_compute: minCompute === undefined ? undefined : sanitize(minCompute),
	same_model: sameModel,
	nvlink,
});
