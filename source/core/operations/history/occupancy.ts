import type {World} from '../../model/ports.js';
import {collectOccupancy, liveOccupancy, type OccupancySpan} from '../../rules/pool/occupancy.js';
import type {TimeWindow} from '../../rules/pool/report.js';
import {readForDisplay} from '../transact.js';
import {takeOverHistory} from './report.js';

const secondsPerHour = 3600;

export type Occupancy = {
	readonly window: TimeWindow;
	readonly gpuCount: number;
	readonly spans: readonly OccupancySpan[];
};

/** Reads who held which GPU in the last `hours`. Rejects with a CanhazgpuError if the store fails. */
export async function occupancyOf(world: World, hours: number): Promise<Occupancy> {
	const snapshot = await readForDisplay(world);
	await takeOverHistory(world);
	const window = {from: snapshot.now - hours * secondsPerHour, to: snapshot.now};
	const collector = collectOccupancy(window);
	for await (const page of world.store.history(window.from, window.to).pages()) {
		for (const record of page) {
			collector.add(record);
		}
	}

	for (const {record, endsBy} of liveOccupancy(snapshot)) {
		collector.add(record, {endsBy});
	}

	return {window, gpuCount: snapshot.pool?.gpuCount ?? 0, spans: collector.spans()};
}
