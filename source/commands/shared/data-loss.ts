import {recentLoss} from '../../core/rules/pool/alerts.js';
import type {Snapshot} from '../../core/model/types.js';

/** Returns the warning about a recent loss of data. Loads the text of the warning only if data was lost. */
export async function recentLossText(snapshot: Snapshot): Promise<string | undefined> {
	const loss = recentLoss(snapshot);
	if (loss === undefined) {
		return undefined;
	}

	const [{dataLossText}, {eventTime}] = await Promise.all([
		import('../../format/data-loss.js'),
		import('../../format/text/days.js'),
	]);
	return dataLossText(loss, (seconds) => eventTime(seconds, snapshot.now));
}
