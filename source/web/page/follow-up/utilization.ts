/** The recent utilization of the GPUs: requested once, then extended with values from the event stream. */
import type {UtilizationJson} from '../../api/utilization-json.js';
import type {Gpu} from '../fields.js';
import {percentOf} from '../text.js';
import {fetchJson} from '../state/fetch-json.js';
import type {Series, Utilization} from '../state/state.js';

const sparkMinutes = 15;

export const fetchUtilization = async (query: string): Promise<UtilizationJson> => fetchJson(`/api/use?${query}`);

export async function fetchAll(before: () => Utilization): Promise<Utilization> {
	const {step_seconds: seconds, end_ms: endMs, gpus} = await fetchUtilization(`minutes=${sparkMinutes}`);
	const stepMs = seconds * 1000;
	return {
		stepMs,
		step: Math.floor(endMs / stepMs),
		gpus: new Map(Object.entries(gpus).map(([index, series]) => [Number(index), series])),
		fetches: before().fetches + 1,
	};
}

/** Appends the current value of each GPU at the end of each step, even if the value is unchanged. */
export function continued(before: Utilization, gpus: readonly Gpu[], nowMs: number): Utilization {
	const {stepMs} = before;
	const step = Math.floor(nowMs / stepMs);
	const steps = before.step === 0 ? 0 : step - before.step;
	if (steps < 1) {
		return step === before.step ? before : {...before, step};
	}

	const length = (sparkMinutes * 60_000) / stepMs;
	const gap = Array.from({length: Math.min(steps - 1, length)}, () => null);
	const nothing = Array.from({length}, () => null);
	const series = gpus.map((gpu): readonly [number, Series] => {
		const {utilization, memory} = before.gpus.get(gpu.gpu_id) ?? {utilization: nothing, memory: nothing};
		const used = percentOf(gpu.memory_used_mb, gpu.memory_total_mb);
		return [
			gpu.gpu_id,
			{
				utilization: [...utilization, ...gap, gpu.utilization ?? null].slice(-length),
				memory: [...memory, ...gap, used === undefined ? null : Math.round(used)].slice(-length),
			},
		];
	});
	return {...before, step, gpus: new Map([...before.gpus, ...series])};
}
