import {recentLoss} from '../../core/rules/pool/alerts.js';
import type {Snapshot} from '../../core/model/types.js';

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
