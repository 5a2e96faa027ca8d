import type {Grant} from '../../core/rules/request/request.js';
import {devicesText} from '../instances.js';
import {sanitize} from '../text/text.js';

/** Returns the GPUs and the host of a grant, with a comma before the facts that follow: `GPU 0,1 of box2, `. Empty on this machine. */
export const placeText = (place: Grant['place']): string =>
	place === undefined ? '' : `GPU ${place.gpuIds.join(',')} of ${sanitize(place.node)}, `;

/** Returns how to use GPUs whose ids on their node differ from their ids in the cluster. Undefined if the ids are the same. */
export function otherIdsText({gpus, place, leaseId}: Grant): string | undefined {
	const onNode = place?.gpuIds.join(',');
	return place === undefined || onNode === gpus.join(',')
		? undefined
		: `On ${sanitize(place.node)}, these GPUs have other ids: export CUDA_VISIBLE_DEVICES=${onNode}. For srun: export SLURM_JOB_ID=${leaseId}`;
}

/** Returns shell lines that use the granted GPUs. `hostname` is the name of this machine. */
export function useLines({gpus, instances, place, leaseId}: Grant, hostname: string): readonly string[] {
	if (place === undefined) {
		return ['To use them here:', `export CUDA_VISIBLE_DEVICES=${devicesText(gpus, instances)}`];
	}

	const shortName = (name: string): string => name.split('.', 1)[0]!;
	const isHere = shortName(place.node) === shortName(hostname);
	return [
		'To use them with srun in this shell:',
		`export SLURM_JOB_ID=${leaseId}`,
		`Or open a shell on ${sanitize(place.node)}: srun --jobid=${leaseId} --pty bash`,
		`${isHere ? 'Here' : `Logged in on ${sanitize(place.node)}`}: export CUDA_VISIBLE_DEVICES=${place.gpuIds.join(',')}`,
	];
}

export const engineText = (label: string): string => `Engine: ${sanitize(label)}`;
