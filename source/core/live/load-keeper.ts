/** Adds what the one scanner of a host sees to the load history, a line a minute. */
import {withFallback} from '../../errors.js';
import type {Store} from '../model/ports.js';
import type {Observation} from '../model/types.js';
import {encodeMinute, hourOf, withScan, type MinuteUnderWay} from '../rules/pool/load-minutes.js';

export type LoadKeeper = {
	/** Takes a scan of this time, in seconds on the store's clock. Never rejects for the store's sake. */
	readonly add: (observation: Pick<Observation, 'gpus' | 'failure'>, time: number) => Promise<void>;
	/** Writes the minute that is under way: from now on somebody else scans, or no one. */
	readonly end: () => Promise<void>;
};

export function createLoadKeeper({loads}: Pick<Store, 'loads'>): LoadKeeper {
	let underWay: MinuteUnderWay | undefined;

	/** A minute that the store does not take, because it is away or full, counts as one that was not seen. */
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
