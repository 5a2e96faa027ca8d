/** What was reserved in a dialog. */
import type {Need} from '../../core/model/types.js';
import type {Grant} from '../../core/rules/request/request.js';
import {sizeText} from '../../core/rules/request/memory-size.js';
import {partsText} from '../instances.js';
import {longDuration} from '../text/durations.js';
import {gpuList} from '../text/gpu-list.js';

export const shareOfText = (need: Need | undefined): string =>
	need?.shareMiB === undefined ? '' : `a share of ${sizeText(need.shareMiB)} of `;

/** `reserved a share of 8G of GPU 0 for 2h 0m 0s`. */
export const grantedText = (
	{gpus, instances}: Pick<Grant, 'gpus' | 'instances'>,
	{need, durationSeconds}: {readonly need?: Need | undefined; readonly durationSeconds: number},
): string =>
	`reserved ${instances === undefined ? `${shareOfText(need)}${gpuList(gpus)}` : partsText([], instances)} for ${longDuration(durationSeconds)}`;
