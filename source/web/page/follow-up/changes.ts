/** Changes in words, which a screen reader says. */
import {gpuStates} from '../../../format/states.js';
import type {Gpu, Waiter} from '../fields.js';
import type {PageState} from '../state/state.js';

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
		: [queue.length === 0 ? 'Nobody waits any more' : `${queue.length} in the queue`];
}

type Changes = {
	readonly words: readonly string[];
	/** Whether a report may say something else now. */
	readonly concernReports: boolean;
};

/** What a message changed. Where everything was said again, the queue is not news. */
export function changesBetween(before: PageState, {gpus, queue, events, store}: PageState, isWhole: boolean): Changes {
	const words = [...changesIn(before.gpus, gpus), ...(isWhole ? [] : queueChange(before.queue, queue))];
	// What was asked for in vain while the store was away is asked for when it is back.
	const isBack = store?.live === true && before.store?.live === false;
	// What began and ended since the last message is seen in the events alone.
	const isEventNew = events.at(-1)?.id !== before.events.at(-1)?.id;
	return {words, concernReports: isWhole || isBack || isEventNew || words.length > 0};
}
