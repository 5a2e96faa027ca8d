/** Writes the load history: one line for each minute in which this process scanned the GPUs. */
import {withFallback} from '../../errors.js';
import type {Store} from '../model/ports.js';
import type {Observation} from '../model/types.js';
import {encodeMinute, hourOf, withScan, type MinuteUnderWay} from '../rules/pool/load-minutes.js';

export type LoadKeeper = {
	/** Adds a scan that was made at the store time `time`, in seconds. Does not reject if the store fails. */
	readonly add: (observation: Pick<Observation, 'gpus' | 'failure'>, time: number) => Promise<void>;
	/** Writes the unfinished minute. Called when this process stops scanning. */
	readonly end: () => Promise<void>;
};

export function createLoadKeeper({loads}: Pick<Store, 'loads'>): LoadKeeper {
	let underWay: MinuteUnderWay | undefined;

	/** Writes a minute. If the store is unreachable or full, the minute is lost, and graphs show a gap. */
	async function write(minute: MinuteUnderWay | undefined): Promise<void> {
		if (minute === undefined || minute.sums.size === 0) {
			return;
		}

		await withFallback(
			async () => loads.append(hourOf(minute.minute), encodeMinute(minute)),
			() => undefined,
		);
	}

	return {
		async add(observation, time) {
			const next = withScan(underWay, observation, time);
			underWay = next.underWay;
			await write(next.over);
		},
		async end() {
			const last = underWay;
			underWay = undefined;
			await write(last);
		},
	};
}
