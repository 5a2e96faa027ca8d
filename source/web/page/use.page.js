/** How busy the GPUs were: fetched once, then continued from what the stream brings. */

const sparkMinutes = 15;

const emptySeries = {utilization: [], memory: []};

const percent = (part, whole) => (part === undefined || !(whole > 0) ? null : Math.round((part / whole) * 100));

export function createUse(drawn) {
	let stepMs = 10_000;
	let bucket = 0;
	const gpus = new Map();

	return {
		series: (gpu) => gpus.get(gpu) ?? emptySeries,
		/** Time in seconds, use, memory. */
		newest(gpu) {
			const {utilization, memory} = gpus.get(gpu) ?? emptySeries;
			return [(bucket * stepMs) / 1000, utilization.at(-1) ?? null, memory.at(-1) ?? null];
		},
		/** The last minutes of one GPU, for its chart. */
		async fetchLong(gpu, minutes) {
			const answer = await fetch(`/api/use?gpu=${gpu}&minutes=${minutes}`);
			const {step_seconds: step, end_ms: end, gpus: found} = await answer.json();
			const {utilization, memory} = found[gpu] ?? emptySeries;
			const times = utilization.map((_, place) => end / 1000 - (utilization.length - 1 - place) * step);
			return [times, utilization, memory];
		},
		async begin() {
			const answer = await fetch(`/api/use?minutes=${sparkMinutes}`);
			const {step_seconds: step, end_ms: end, gpus: found} = await answer.json();
			stepMs = step * 1000;
			bucket = Math.floor(end / stepMs);
			gpus.clear();
			for (const [index, series] of Object.entries(found)) {
				gpus.set(Number(index), series);
			}

			drawn(true);
		},
		/** Time goes on: a value for each GPU, also for those whose values did not change. */
		add(list, nowMs) {
			const now = Math.floor(nowMs / stepMs);
			const steps = bucket === 0 ? 0 : now - bucket;
			bucket = now;
			if (steps < 1) {
				return;
			}

			const length = (sparkMinutes * 60_000) / stepMs;
			const filler = Array.from({length: Math.min(steps - 1, length)}, () => null);
			for (const gpu of list) {
				const known = gpus.get(gpu.gpu_id) ?? {
					utilization: Array.from({length}, () => null),
					memory: Array.from({length}, () => null),
				};
				gpus.set(gpu.gpu_id, {
					utilization: [...known.utilization, ...filler, gpu.utilization ?? null].slice(-length),
					memory: [...known.memory, ...filler, percent(gpu.memory_used_mb, gpu.memory_total_mb)].slice(-length),
				});
			}

			drawn(false);
		},
	};
}
