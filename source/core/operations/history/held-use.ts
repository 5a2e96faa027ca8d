import {loadHours, type World} from '../../model/ports.js';
import {hourOf, minuteOf} from '../../rules/pool/load-minutes.js';
import {collectHeldUse, type HeldUse, type HeldUseOptions} from '../../rules/pool/held-use.js';
import {liveUsage, type TimeWindow} from '../../rules/pool/report.js';
import {readForDisplay} from '../transact.js';
import {readLoads} from './past.js';
import {takeOverHistory} from './report.js';

const secondsPerHour = 3600;

export const mostHeldUseHours = loadHours - 1;

/** How many hours of load history are read at once. A larger read would block this process for too long. */
const hoursAtOnce = 12;

export type HeldUseReport = {
	readonly window: TimeWindow;
	readonly rows: readonly HeldUse[];
	readonly recordedHours: number;
	readonly gaps: readonly TimeWindow[];
};

/** Compares reserved and used GPU time in the last `hours`, at most {@link mostHeldUseHours}. `nameOf` returns a GPU's name in the load history. */
export async function heldUseOf(world: World, hours: number, nameOf: HeldUseOptions['nameOf']): Promise<HeldUseReport> {
	const snapshot = await readForDisplay(world);
	await takeOverHistory(world);
	const window = {from: snapshot.now - hours * secondsPerHour, to: snapshot.now};
	const collector = collectHeldUse({window, gpuCount: snapshot.pool?.gpuCount ?? 0, nameOf});
	const lastHour = hourOf(minuteOf(window.to));
	const firstHour = Math.max(hourOf(minuteOf(window.from)), lastHour - loadHours + 1);
	for (let hour = firstHour; hour <= lastHour; hour += hoursAtOnce) {
		const end = Math.min(window.to, (hour + hoursAtOnce) * secondsPerHour - 1);
		collector.addLoads(await readLoads(world, hour * secondsPerHour, end));
	}

	for await (const page of world.store.history(window.from, window.to).pages()) {
		for (const record of page) {
			collector.add(record);
		}
	}

	for (const record of liveUsage(snapshot)) {
		collector.add(record);
	}

	return {
		window,
		rows: collector.rows(),
		recordedHours: collector.recordedSeconds() / secondsPerHour,
		gaps: collector.gaps(),
	};
}
