import {gpuStates} from '../../../format/states.js';
import type {Gpu, Waiter} from '../fields.js';
import type {PageState} from '../state/state.js';
import {idleText} from '../text.js';
import {scanFailure, storeFailure} from './failures.js';

function changesIn(before: readonly Gpu[], gpus: readonly Gpu[]): readonly string[] {
	const known = new Map(before.map((gpu) => [gpu.gpu_id, gpu]));
	return gpus.flatMap((gpu) => {
		const last = known.get(gpu.gpu_id);
		return last === undefined || (last.state === gpu.state && last.user === gpu.user)
			? []
			: [`GPU ${gpu.gpu_id}: ${gpuStates[gpu.state].label}${gpu.user === undefined ? '' : `, ${gpu.user}`}`];
	});
}

function queueChange(before: readonly Waiter[], queue: readonly Waiter[]): readonly string[] {
	return queue.length === before.length
		? []
		: [queue.length === 0 ? 'Nobody is waiting any more' : `${queue.length} in the queue`];
}

function failureChange(
	before: string | undefined,
	after: string | undefined,
	[began, ended]: readonly [began: string, ended: string],
): readonly string[] {
	return (before === undefined) === (after === undefined) ? [] : [after === undefined ? ended : `${began}: ${after}`];
}

function newReturns(before: readonly Gpu[], gpus: readonly Gpu[], nowMs: number): readonly string[] {
	const times = new Map(before.map((gpu) => [gpu.gpu_id, gpu.reclaim_at]));
	return gpus
		.filter(({gpu_id: index, reclaim_at: time}) => time !== undefined && time !== times.get(index))
		.map((gpu) => `GPU ${gpu.gpu_id}: ${idleText(gpu, nowMs)}`);
}

/** Returns what is new in the banners and in the flags of the GPUs. Empty for the first message, because the page as a whole is new. */
function noticesBetween(before: PageState, state: PageState, nowMs: number): readonly string[] {
	return before.about === undefined
		? []
		: [
				...failureChange(storeFailure(before), storeFailure(state), [
					'The values are no longer updated',
					'The values are updated again',
				]),
				...failureChange(scanFailure(before), scanFailure(state), [
					'There are no new readings of the GPUs',
					'The GPUs are read again',
				]),
				...state.warnings.filter((text) => !before.warnings.includes(text)).map((text) => `Warning: ${text}`),
				...newReturns(before.gpus, state.gpus, nowMs),
			];
}

type Changes = {
	readonly words: readonly string[];
	readonly concernReports: boolean;
};

/**
Returns what a message changed, the most important first. If the message was a complete state, changes of the queue are not announced.
@param nowMs - The server's time.
*/
export function changesBetween(before: PageState, state: PageState, isWhole: boolean, nowMs: number): Changes {
	const {gpus, queue, events, store} = state;
	const changes = [...changesIn(before.gpus, gpus), ...(isWhole ? [] : queueChange(before.queue, queue))];
	// Requests that failed are repeated when the store is reachable again.
	const isBack = store?.live === true && before.store?.live === false;
	// A reservation that begins and ends between two messages appears only in the events.
	const isEventNew = events.at(-1)?.id !== before.events.at(-1)?.id;
	return {
		words: [...noticesBetween(before, state, nowMs), ...changes],
		concernReports: isWhole || isBack || isEventNew || changes.length > 0,
	};
}
