/** What was reserved against what was used over the last hours. */
import type {World} from '../../model/ports.js';
import {collectHeldUse, type HeldUse, type HeldUseOptions} from '../../rules/pool/held-use.js';
import {liveUsage, type TimeWindow} from '../../rules/pool/report.js';
import {readForDisplay} from '../transact.js';
import {readLoads} from './past.js';
import {takeOverHistory} from './report.js';

const secondsPerHour = 3600;

export type HeldUseReport = {
	readonly window: TimeWindow;
	/** Most hours first. */
	readonly rows: readonly HeldUse[];
};

/**
@param hours - The load history has a day.
@param nameOf - What a GPU goes by in the load history; undefined where that is not known now.
Rejects with a CanhazgpuError where the store does.
*/
export async function heldUseOf(world: World, hours: number, nameOf: HeldUseOptions['nameOf']): Promise<HeldUseReport> {
	const snapshot = await readForDisplay(world);
	await takeOverHistory(world);
	const window = {from: snapshot.now - hours * secondsPerHour, to: snapshot.now};
	const minutes = await readLoads(world, window.from, window.to);
	const collector = collectHeldUse({window, minutes, nameOf});
	for await (const page of world.store.history(window.from, window.to).pages()) {
		for (const record of page) {
			collector.add(record);
		}
	}

	for (const record of liveUsage(snapshot)) {
		collector.add(record);
	}

	return {window, rows: collector.rows()};
}
