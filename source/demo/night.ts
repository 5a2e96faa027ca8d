import {liveUsage} from '../core/rules/pool/report.js';
import {encodeMinute, hourOf, minuteOf, withScan} from '../core/rules/pool/load-minutes.js';
import type {LoadHistory, Store} from '../core/model/ports.js';
import type {UsageRecord} from '../core/model/types.js';
import {sceneOf, type Scenario} from '../gpu/simulated/scenario.js';
import {simulateGpu} from '../gpu/simulated/simulation.js';

type Options = {
	readonly seed: number;
	readonly gpuCount: number;
	/** GPUs that are split by MIG, also during the night. The load of such a GPU as a whole is unknown. */
	readonly mig?: Scenario['mig'];
	/** Start of the demonstration, in seconds since the epoch. Later load comes from the scans of the demonstration. */
	readonly begin: number;
};

const nightSeconds = 86_400;

/** A gap in the graphs, in seconds before the start of the demonstration. The gap imitates a time without a monitor. */
const unseen = {from: 10.2 * 3600, to: 7.4 * 3600} as const;

function lineAt(time: number, usage: readonly UsageRecord[], {seed, gpuCount, mig}: Options): string {
	const gpus = Array.from({length: gpuCount}, (_, index) => {
		const held = usage.find(({gpuId, startTime, endTime}) => gpuId === index && startTime <= time && endTime > time);
		const lease = held && {index, user: held.user, type: held.reservationType, startTime: held.startTime};
		const {change} = sceneOf({mig}, index, 0);
		return simulateGpu({seed, index, seconds: time, lease, scene: {processes: [], change}});
	});
	return encodeMinute(withScan(undefined, {gpus}, time).underWay!);
}

/** Returns a load history that includes the night. Computes the night at the first read, because the monitor's first frame does not need it. */
export function withNight(store: Pick<Store, 'loads' | 'history' | 'read'>, options: Options): LoadHistory {
	const {begin} = options;
	let night: Promise<ReadonlyMap<number, string>> | undefined;

	async function makeNight(): Promise<ReadonlyMap<number, string>> {
		const snapshot = await store.read();
		const usage = [...(await Array.fromAsync(store.history(begin - nightSeconds, begin))), ...liveUsage(snapshot)];
		const lines = new Map<number, string>();
		for (let time = begin - nightSeconds; time <= begin; time += 60) {
			if (time > begin - unseen.from && time < begin - unseen.to) {
				continue;
			}

			const hour = hourOf(minuteOf(time));
			lines.set(hour, `${lines.get(hour) ?? ''}${lineAt(time, usage, options)}\n`);
		}

		return lines;
	}

	return {
		append: store.loads.append,
		async read(fromHour, toHour) {
			night ??= makeNight();
			const made = await night;
			const seen = await store.loads.read(fromHour, toHour);
			const hours = [...new Set([...made.keys(), ...seen.keys()])].filter((hour) => hour >= fromHour && hour <= toHour);
			return new Map(
				hours.toSorted((a, b) => a - b).map((hour) => [hour, `${made.get(hour) ?? ''}${seen.get(hour) ?? ''}`]),
			);
		},
	};
}
