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
		: [queue.length === 0 ? 'Nobody is waiting any more' : `${queue.length} in the queue`];
}

type Changes = {
	readonly words: readonly string[];
	readonly concernReports: boolean;
};

/** Returns what a message changed. If the message was a complete state, changes of the queue are not announced. */
export function changesBetween(before: PageState, {gpus, queue, events, store}: PageState, isWhole: boolean): Changes {
	const words = [...changesIn(before.gpus, gpus), ...(isWhole ? [] : queueChange(before.queue, queue))];
	// Requests that failed are repeated when the store is reachable again.
	const isBack = store?.live === true && before.store?.live === false;
	// A reservation that begins and ends between two messages appears only in the events.
	const isEventNew = events.at(-1)?.id !== before.events.at(-1)?.id;
	return {words, concernReports: isWhole || isBack || isEventNew || words.length > 0};
}
