import type {Need} from '../../core/model/types.js';
import type {Wanted} from '../../core/rules/request/request.js';
import type {Progress} from '../../core/operations/engine.js';
import {needText, wantedInstanceText} from '../../core/rules/allocation/impossible.js';
import {instanceText} from '../../core/rules/mig/instances.js';
import type {Outage} from '../../core/rules/queue/out-of-service.js';
import {engineReasonText} from '../engine/engine-reasons.js';
import {longDuration} from '../text/durations.js';
import {sanitize} from '../text/text.js';
import {limitText} from './over-limit.js';
import {unknownText, unusableText} from './refusal.js';

export const needWordsOf = (need: Need): string => sanitize(needText(need));

/** Returns `2 GPUs`, `GPU 3`, `MIG instance 0:1`, `GPUs 4 5` or `2 GPUs of model h100, with 40G or more`. */
export const wantedText = ({count, ids, need}: Wanted): string =>
	`${
		need?.mig === undefined
			? ids === undefined
				? `${count} ${count === 1 ? 'GPU' : 'GPUs'}`
				: `${ids.length === 1 ? 'GPU' : 'GPUs'} ${ids.join(' ')}`
			: sanitize(wantedInstanceText(need.mig, count))
	}${need === undefined ? '' : ` ${needWordsOf(need)}`}`.trimEnd();

type OutOfService = ReadonlyArray<Pick<Outage, 'gpu' | 'mig'>>;

export function partsOutText(
	outages: OutOfService,
	listOf = (ids: readonly number[]) => wantedText({count: ids.length, ids}),
): string {
	const ids = outages.filter(({mig}) => mig === undefined).map(({gpu}) => gpu);
	const names = outages.flatMap(({gpu, mig}) => (mig === undefined ? [] : [instanceText({gpu, number: mig.number})]));
	return [
		...(ids.length === 0 ? [] : [listOf(ids)]),
		...(names.length === 0 ? [] : [`MIG ${names.length === 1 ? 'instance' : 'instances'} ${names.join(' ')}`]),
	].join(' and ');
}

export const outOfServiceText = (outages: OutOfService): string | undefined =>
	outages.length === 0
		? undefined
		: `when ${partsOutText(outages)} ${outages.length === 1 ? 'is' : 'are'} back in service`;

/** Returns the progress in one line. Without `hasEstimate`, omits the end of the wait, which the monitor and the dashboard show elsewhere. */
export function progressText(progress: Progress, hasEstimate = true): string {
	switch (progress.kind) {
		case 'waiting': {
			const {position, waiting, wanted, held, outOfService, unusable, unknown} = progress;
			const {estimateSeconds} = progress;
			const got = held.length === 0 ? `0/${wanted.count}` : `${held.length}/${wanted.count} [${held.join(' ')}]`;
			const until = estimateSeconds === undefined ? undefined : `in about ${longDuration(estimateSeconds)}`;
			// Explains why a GPU without a holder is not granted.
			const reasons = [
				...(unknown.length === 0 ? [] : [unknownText(unknown)]),
				...(unusable.length === 0 ? [] : [unusableText(unusable)]),
			];
			const why = reasons.length === 0 ? undefined : `since ${reasons.join(', ')}`;
			const engineWhy = progress.reason === undefined ? undefined : engineReasonText(progress.reason);
			const limit = limitText(progress);
			const limited = limit === undefined ? undefined : `since ${limit}`;
			const when =
				limited ??
				outOfServiceText(outOfService.map((gpu) => ({gpu}))) ??
				until ??
				why ??
				engineWhy ??
				'when a job ends';
			const words = `Waiting for ${wantedText(wanted)}: position ${position} of ${waiting}, got ${got}`;
			return hasEstimate ? `${words}, ${when}` : words;
		}

		case 'store-lost': {
			return `Still waiting at the same position in the queue: ${sanitize(progress.reason)}`;
		}

		case 'rejoined': {
			return `The queue entry was lost. The request joined the queue again, ${progress.isLast === true ? 'at the end' : 'at the same position'}`;
		}
	}
}
