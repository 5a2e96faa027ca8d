import type {MinuteLoads} from '../../core/model/observation.js';
import type {World} from '../../core/model/ports.js';
import {readLoads} from '../../core/operations/history/past.js';
import {readForDisplay} from '../../core/operations/transact.js';
import {CanhazgpuError} from '../../errors.js';
import {mostMinutes} from './utilization-json.js';

/** Cache time in ms, shorter than the minute after which the pool stores a new value. */
const freshMs = 20_000;

export function createKeptLoads(
	open: () => Promise<World>,
	monotonicMs: () => number,
): (minutes: number) => Promise<readonly MinuteLoads[]> {
	let reading: {readonly atMs: number; readonly lines: Promise<readonly MinuteLoads[]>} | undefined;

	async function read(): Promise<readonly MinuteLoads[]> {
		try {
			const world = await open();
			const {now} = await readForDisplay(world);
			return await readLoads(world, now - mostMinutes * 60, now);
		} catch (error) {
			// If the store cannot be read, only the loads that this server has recorded are shown.
			if (error instanceof CanhazgpuError) {
				return [];
			}

			throw error;
		}
	}

	return async (minutes) => {
		if (reading === undefined || monotonicMs() - reading.atMs > freshMs) {
			reading = {atMs: monotonicMs(), lines: read()};
		}

		const lines = await reading.lines;
		const newest = lines.at(-1)?.minute ?? 0;
		return lines.filter(({minute}) => minute >= newest - minutes);
	};
}
