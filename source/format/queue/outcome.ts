import type {Refusal} from '../../core/rules/grants/newcomer-grant.js';
import type {Undone} from '../../core/operations/undo.js';
import {gpuList} from '../text/gpu-list.js';
import type {Need} from '../../core/model/types.js';
import type {Grant} from '../../core/rules/request/request.js';
import {settingText} from '../../core/rules/limits/limits.js';
import {sizeText} from '../../core/rules/request/memory-size.js';
import {gpusAndInstances, partsText} from '../instances.js';
import {longDuration} from '../text/durations.js';
import {agentLimitText, overLimitText} from './over-limit.js';
import {blockText} from './refusal.js';

export const shareOfText = (need: Need | undefined): string =>
	need?.shareMiB === undefined ? '' : `a share of ${sizeText(need.shareMiB)} of `;

export const grantedText = (
	{gpus, instances}: Pick<Grant, 'gpus' | 'instances'>,
	{need, durationSeconds}: {readonly need?: Need | undefined; readonly durationSeconds: number},
): string =>
	`reserved ${instances === undefined ? `${shareOfText(need)}${gpuList(gpus)}` : partsText([], instances)} for ${longDuration(durationSeconds)}`;

/** Returns why GPUs were refused, with one text for all GPUs with the same reason: `GPU 0,1 is held by bob`. */
function blockedWords(refused: readonly Refusal[]): readonly string[] {
	const blocked = refused.flatMap(({blocked: gpus, now}) =>
		gpus.map(({index, block}) => ({index, words: blockText(block, now)})),
	);
	return Array.from(
		Map.groupBy(blocked, ({words}) => words),
		([words, gpus]) => `GPU ${gpus.map(({index}) => index).join(',')} ${words}`,
	);
}

/** Returns why a refusal names no GPU: a limit, or MIG instances that no longer exist. */
function reasonWithoutGpu({overLimit, agentLimit, blocked}: Refusal): readonly string[] {
	if (overLimit !== undefined) {
		return [`${overLimitText(overLimit)} (${settingText(overLimit.limit)})`];
	}

	if (agentLimit !== undefined) {
		return [`${agentLimitText(agentLimit)} (agents.max-gpus=${agentLimit.most})`];
	}

	return blocked.length === 0 ? ['not all MIG instances of the reservation exist any longer'] : [];
}

type UndoneText = {
	readonly text: string;
	readonly done: 'all' | 'some' | 'none';
	readonly gpus: readonly number[];
};

export function undoneText({undone, refused, over}: Undone): UndoneText {
	const gpus = undone.flatMap((each) => each.gpus).toSorted((a, b) => a - b);
	const late = over.length > 0 ? [`the reservation of ${gpuList(over)} has expired in the meantime`] : [];
	const others = new Set(refused.flatMap((refusal) => reasonWithoutGpu(refusal)));
	const reasons = [...blockedWords(refused), ...others, ...late].join(', ');
	if (gpus.length === 0) {
		return {text: `Not undone: ${reasons}`, done: 'none', gpus};
	}

	const whole = undone.filter(({instances}) => instances === undefined).flatMap((each) => each.gpus);
	const places = gpusAndInstances(
		whole.toSorted((a, b) => a - b),
		undone.flatMap(({instances = []}) => instances),
	);
	const text = `reserved ${places} again, until the same time as before`;
	return reasons === '' ? {text, done: 'all', gpus} : {text: `${text}, but ${reasons}`, done: 'some', gpus};
}
